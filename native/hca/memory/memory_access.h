#pragma once

#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/memory/memory_translation.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// DMA to memory named by a key, after the key check.
class MemoryAccess {
public:
  MemoryAccess(Counters& counters, HostPort& host, MemoryTranslation& translation, EventPort& events)
      : counters_(counters), host_(host), translation_(translation), events_(events) {}

  // Checks the whole access, then reads or writes access.length bytes; a failed check writes nothing. An
  // access of 0 bytes is not checked and touches nothing. `unreachable`: a page is not mapped for DMA; the
  // fault is counted and raises an event, and bytes written before that page remain. Consecutive accesses to
  // adjacent memory, such as those of one message, are checked and translated once.
  AccessFault check(const KeyAccess& access) { return translation_.check(access); }
  AccessFault read(const KeyAccess& access, void* destination) {
    if (const std::optional<uint64_t> address = find_granted(access)) [[likely]]
      return read_granted(access.underlying_function, *address, destination, access.length);
    return read_checked(access, destination);
  }
  AccessFault write(const KeyAccess& access, const void* source) {
    if (const std::optional<uint64_t> address = find_granted(access)) [[likely]]
      return write_granted(access.underlying_function, *address, source, access.length);
    return write_checked(access, source);
  }

  // For several accesses to contiguous memory: where it is, if a cached translation permits all of it, and a
  // part of it.
  std::optional<uint64_t> find_granted(const KeyAccess& access) const {
    return translation_.find_granted(access);
  }
  AccessFault read_granted(unsigned underlying_function, uint64_t address, void* destination, size_t bytes) {
    return ended(host_.read(underlying_function, address, destination, bytes), underlying_function, address);
  }
  AccessFault write_granted(unsigned underlying_function, uint64_t address, const void* source,
                            size_t bytes) {
    return ended(host_.write(underlying_function, address, source, bytes), underlying_function, address);
  }

private:
  AccessFault ended(DmaStatus status, unsigned underlying_function, uint64_t address) {
    if (status == DmaStatus::ok) [[likely]]
      return AccessFault::none;
    report_fault(underlying_function, address);
    return AccessFault::unreachable;
  }
  AccessFault read_checked(const KeyAccess& access, void* destination);
  AccessFault write_checked(const KeyAccess& access, const void* source);
  template <class Transfer> AccessFault transfer(const KeyAccess& access, Transfer&& transfer_piece);
  void report_fault(unsigned underlying_function, uint64_t address);

  Counters& counters_;
  HostPort& host_;
  MemoryTranslation& translation_;
  EventPort& events_;
};

} // namespace fpga_verbs::hca
