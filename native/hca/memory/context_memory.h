#pragma once

#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "spec/contexts.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace fpga_verbs::hca {

// Host memory that the control function lends to the device for contexts and page tables. It is in the DMA
// domain of function 0; guests never map it. Queue pair contexts come first, then page table entries, then
// the entries of memory keys; the sizes determine the offsets.
class ContextMemory {
public:
  ContextMemory(const HcaParameters& parameters, Counters& counters, HostPort& host, EventPort& events);

  // Required size in bytes, whole pages.
  uint64_t bytes_needed() const;

  // Accepts memory at a page-aligned DMA address. False: not aligned, too small, not reachable, or the device
  // already has memory, which only a reset releases. Opening the same memory again is no error.
  bool open(uint64_t address, uint64_t bytes);
  void reset();

  // Accesses to context `index` (its first bytes), to page table entries from `first` on, and to the entry of
  // a memory key. Faults are counted; the first one raises an event of function 0.
  DmaStatus read_queue_pair(uint32_t index, std::span<std::byte> context);
  DmaStatus write_queue_pair(uint32_t index, std::span<const std::byte> context);
  DmaStatus read_page_table(uint32_t first, std::span<spec::PageTableEntry> entries);
  DmaStatus write_page_table(uint32_t first, std::span<const spec::PageTableEntry> entries);
  DmaStatus read_memory_key(uint32_t index, spec::MemoryKeyEntry& entry);
  DmaStatus write_memory_key(uint32_t index, const spec::MemoryKeyEntry& entry);

private:
  uint64_t page_tables() const; // offset of the first page table entry
  uint64_t memory_keys() const; // offset of the first memory key entry
  DmaStatus checked(DmaStatus status, uint64_t address);

  const HcaParameters& parameters_;
  Counters& counters_;
  HostPort& host_;
  EventPort& events_;
  uint64_t address_ = 0;
  uint64_t bytes_ = 0;
  bool is_open_ = false;
  bool has_faulted_ = false;
};

} // namespace fpga_verbs::hca
