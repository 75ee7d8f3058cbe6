#pragma once

#include "bench.h"
#include "context_host.h"

#include "hca/base/counters.h"
#include "hca/base/parameters.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "hca/memory/memory_windows.h"
#include "hca/queue_pair/queue_pair_state_cache.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

namespace fpga_verbs::bench {

using hca::AccessFault;

constexpr uint32_t line_entries = 8;

// An access as requested from the RTL.
struct Access {
  hca::KeyAccess of;
  bool is_check = false;
  bool is_table = false; // to a page table: `key` is its index
};

// A burst, or the end of an access.
struct Burst {
  uint64_t address = 0;
  uint64_t bytes = 0;
  AccessFault fault = AccessFault::none;
  bool is_last = false;

  bool operator==(const Burst&) const = default;
};
using Bursts = std::vector<Burst>;

// Keys and page tables of the device model, with their own host memory.
class TranslationModel {
public:
  static constexpr uint32_t keys = KEYS;
  static constexpr uint32_t page_table_entries = PAGE_TABLE_ENTRIES;

  TranslationModel() {
    if (context_memory_.bytes_needed() > context_bytes || !context_memory_.open(0, context_bytes))
      std::abort();
  }

  // Addresses in host memory.
  static uint64_t tables_address() { return whole(uint64_t{queue_pairs} * spec::QueuePairContext::bytes); }
  static uint64_t keys_address() {
    return tables_address() + whole(uint64_t{page_table_entries} * spec::PageTableEntry::bytes);
  }
  static uint64_t address_of_key(uint32_t key) {
    return keys_address() + uint64_t{hca::KeyTable::index_of(key)} * spec::MemoryKeyEntry::bytes;
  }

  // All bursts of an access.
  Bursts bursts(const Access& access) {
    Bursts all;
    for (uint64_t done = 0; all.empty() || !all.back().is_last; done += all.back().bytes)
      all.push_back(next(access, done));
    return all;
  }

  // The next burst after the first `done` bytes.
  Burst next(const Access& access, uint64_t done) {
    if (access.of.length == 0)
      return {.is_last = true};
    const AccessFault fault = done != 0 || access.is_table ? AccessFault::none : check(access.of);
    if (fault != AccessFault::none || access.is_check)
      return {.fault = fault, .is_last = true};
    const std::optional<hca::MemoryPiece> piece = locate(access, access.of.address + done);
    if (!piece)
      return {.fault = AccessFault::unreachable, .is_last = true};
    const uint64_t bytes = std::min(piece->bytes, access.of.length - done);
    return {.address = piece->address, .bytes = bytes, .is_last = done + bytes == access.of.length};
  }

private:
  static constexpr uint32_t queue_pairs = 8;
  static constexpr uint64_t context_bytes =
      (1 << 20) + uint64_t{keys} * 64 + uint64_t{page_table_entries} * 8;
  static uint64_t whole(uint64_t bytes) {
    return (bytes + spec::page_bytes - 1) / spec::page_bytes * spec::page_bytes;
  }
  static hca::HcaParameters make_parameters() {
    hca::HcaParameters parameters;
    parameters.queue_pairs = queue_pairs;
    parameters.page_table_entries = page_table_entries;
    parameters.memory_keys = keys;
    return parameters;
  }

  AccessFault check(const hca::KeyAccess& access) {
    hca::KeyTable& keys = translation.keys();
    const bool is_read = keys.exists(access.underlying_function, access.key) &&
                         (access.begun || !keys.is_quiesced(access.key));
    if (is_read && broken.contains(hca::KeyTable::index_of(access.key)))
      return AccessFault::unreachable;
    return translation.check(access);
  }
  std::optional<hca::MemoryPiece> locate(const Access& access, uint64_t address) {
    if (!access.is_table)
      return translation.locate(access.of.underlying_function, access.of.key, address);
    const std::optional<uint64_t> found = translation.translate(access.of.key, address);
    if (!found)
      return std::nullopt;
    return hca::MemoryPiece{.address = *found, .bytes = spec::page_bytes - address % spec::page_bytes};
  }

  // Initialized first.
  hca::HcaParameters parameters_ = make_parameters();
  hca::Counters counters_;

public:
  ContextHost host{context_bytes};

private:
  NoEvents events_;
  hca::ContextMemory context_memory_{parameters_, counters_, host, events_};

public:
  hca::MemoryTranslation translation{parameters_, context_memory_};
  hca::MemoryWindows windows{translation.keys()};
  std::set<uint32_t> broken; // indices of keys whose entries in host memory belong to other keys
};

} // namespace fpga_verbs::bench
