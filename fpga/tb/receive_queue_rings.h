#pragma once

#include "bench.h"
#include "descriptor_fetch_model.h"

#include "spec/commands.h"
#include "spec/contexts.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace fpga_verbs::bench {

// The host's side of a receive queue: references in pages that are not contiguous, and the tail.
struct ReceiveRing {
  unsigned function = 0;
  unsigned log2 = 0;
  uint32_t table = 0;
  uint32_t entry_bytes = 0;
  uint64_t tail_address = 0;
  uint16_t tail = 0;
  bool is_held = false; // its tables are being replaced
  uint32_t entries() const { return 1U << log2; }
};

// Host memory with receive queues. Some pages are not mapped, some cannot be reached.
class ReceiveHostMemory {
public:
  ReceiveHostMemory(Random& random, DescriptorSurroundings& surroundings)
      : random_(random), surroundings_(surroundings) {}

  ReceiveRing make(unsigned function, unsigned log2, uint16_t head, bool is_good) {
    ReceiveRing ring{.function = function, .log2 = log2};
    ring.entry_bytes = (1 + random_.below(64)) * spec::page_bytes;
    ring.tail_address = new_page(function, is_good) * spec::page_bytes + random_.below(1024) * 4;
    ring.tail = head;
    ring.table = make_table(function, log2, is_good);
    write_tail(ring, head);
    return ring;
  }
  uint32_t make_table(unsigned function, unsigned log2, bool is_good) {
    const uint32_t count =
        ((1U << log2) * spec::WorkQueueReference::bytes + spec::page_bytes - 1) / spec::page_bytes;
    const auto table = surroundings_.translation.create_table(function, count);
    if (!table)
      std::abort();
    std::vector<spec::PageTableEntry> entries(count);
    for (spec::PageTableEntry& entry : entries) {
      entry.set_page(new_page(function, is_good));
      entry.set_valid(is_good || !random_.once(3));
    }
    surroundings_.translation.write_entries(*table, 0, entries);
    return *table;
  }
  // The table goes with its pages: RTL reads none of them from now on.
  void destroy_table(uint32_t table) { surroundings_.translation.destroy_table(table); }

  // Posts a receive work request; the tail is not written yet.
  void post(ReceiveRing& ring, bool is_good) {
    spec::WorkQueueReference reference;
    const uint32_t length = spec::ReceiveEntryHeader::bytes + random_.below(17) * spec::GatherEntry::bytes;
    const uint32_t page = random_.below(ring.entry_bytes / spec::page_bytes);
    const uint32_t places = (spec::page_bytes - length) / spec::work_queue_entry_alignment + 1;
    reference.set_sequence_number(ring.tail);
    reference.set_length(length);
    reference.set_offset(page * spec::page_bytes + (random_.once(8) ? places - 1 : random_.below(places)) *
                                                       spec::work_queue_entry_alignment);
    if (!is_good)
      spoil(ring, reference);
    write_reference(ring, ring.tail, reference);
    ++ring.tail;
  }
  void write_tail(const ReceiveRing& ring, uint32_t tail) { write(ring.tail_address, &tail, sizeof tail); }
  void copy_reference(const ReceiveRing& from, const ReceiveRing& to, uint16_t number) {
    const auto source = address_of(from, number);
    if (!source)
      return;
    spec::WorkQueueReference reference;
    read(*source, &reference, sizeof reference);
    write_reference(to, number, reference);
  }

  bool can_read(unsigned function, uint64_t address, uint32_t bytes) const {
    const Page& page = of(function, address, bytes);
    return page.is_reachable;
  }
  // Whether the address is in memory that queues of the function have.
  bool is_mapped(unsigned function, uint64_t address, uint32_t bytes) const {
    return of(function, address, bytes).function == function;
  }
  void read(uint64_t address, void* to, uint32_t bytes) const {
    auto* bytes_to = static_cast<uint8_t*>(to);
    for (uint32_t at = 0; at < bytes; ++at) {
      const auto found = memory_.find(address + at);
      bytes_to[at] = found == memory_.end() ? 0 : found->second;
    }
  }

private:
  struct Page {
    unsigned function = ~0U;
    bool is_reachable = false;
  };
  uint64_t new_page(unsigned function, bool is_good) {
    next_page_ += 1 + random_.below(1000);
    pages_[next_page_] = {.function = function, .is_reachable = is_good || !random_.once(3)};
    return next_page_;
  }
  Page of(unsigned function, uint64_t address, uint32_t bytes) const {
    const auto page = pages_.find(address / spec::page_bytes);
    return page == pages_.end() || page->second.function != function ||
                   address % spec::page_bytes + bytes > spec::page_bytes
               ? Page{}
               : page->second;
  }
  void spoil(const ReceiveRing& ring, spec::WorkQueueReference& reference) {
    switch (random_.below(6)) {
    case 0:
      reference.set_sequence_number(reference.sequence_number() + 1);
      break;
    case 1:
      reference.set_length(random_.once(2) ? 15 : 273);
      break;
    case 2:
      reference.set_offset(reference.offset() + 1 + random_.below(63));
      break;
    case 3: // crosses the end of its page
      reference.set_offset(reference.offset() / spec::page_bytes * spec::page_bytes + spec::page_bytes - 64);
      reference.set_length(65 + random_.below(208));
      break;
    case 4:
      reference.set_offset(ring.entry_bytes + random_.below(2) * spec::page_bytes);
      break;
    default:
      reinterpret_cast<uint8_t*>(&reference)[7] |= static_cast<uint8_t>(4U << random_.below(6));
    }
  }
  std::optional<uint64_t> address_of(const ReceiveRing& ring, uint16_t number) {
    const uint64_t slot = number & (ring.entries() - 1);
    return surroundings_.translation.translate(ring.table, slot * spec::WorkQueueReference::bytes);
  }
  void write_reference(const ReceiveRing& ring, uint16_t number, const spec::WorkQueueReference& reference) {
    if (const auto address = address_of(ring, number))
      write(*address, &reference, sizeof reference);
  }
  void write(uint64_t address, const void* from, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; ++at)
      memory_[address + at] = static_cast<const uint8_t*>(from)[at];
  }

  Random& random_;
  DescriptorSurroundings& surroundings_;
  uint64_t next_page_ = 0xf'ffff'fff0; // close to a carry through many bits
  std::map<uint64_t, Page> pages_;
  std::unordered_map<uint64_t, uint8_t> memory_;
};

} // namespace fpga_verbs::bench
