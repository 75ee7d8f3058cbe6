#include "hca/memory/context_memory.h"

#include "spec/parameters.h"

namespace fpga_verbs::hca {

namespace {

constexpr unsigned owner = 0; // the control function, in whose DMA domain the memory lies

constexpr uint64_t whole_pages(uint64_t bytes) {
  return (bytes + spec::page_bytes - 1) / spec::page_bytes * spec::page_bytes;
}

} // namespace

ContextMemory::ContextMemory(const HcaParameters& parameters, Counters& counters, HostPort& host,
                             EventPort& events)
    : parameters_(parameters), counters_(counters), host_(host), events_(events) {}

uint64_t ContextMemory::page_tables() const {
  return whole_pages(uint64_t{parameters_.queue_pairs} * spec::QueuePairContext::bytes);
}

uint64_t ContextMemory::memory_keys() const {
  return page_tables() + whole_pages(uint64_t{parameters_.page_table_entries} * spec::PageTableEntry::bytes);
}

uint64_t ContextMemory::bytes_needed() const {
  return memory_keys() + whole_pages(uint64_t{parameters_.memory_keys} * spec::MemoryKeyEntry::bytes);
}

bool ContextMemory::open(uint64_t address, uint64_t bytes) {
  if (is_open_)
    return address == address_ && bytes == bytes_;
  if (address % spec::page_bytes != 0 || bytes < bytes_needed())
    return false;
  // Two accesses, at both ends, check the mapping of the whole area.
  constexpr spec::PageTableEntry unmapped;
  const uint64_t last = address + bytes_needed() - sizeof unmapped;
  if (host_.write(owner, address, &unmapped, sizeof unmapped) == DmaStatus::fault ||
      host_.write(owner, last, &unmapped, sizeof unmapped) == DmaStatus::fault) {
    ++counters_.function[owner].dma_faults;
    return false;
  }
  address_ = address;
  bytes_ = bytes;
  is_open_ = true;
  has_faulted_ = false;
  return true;
}

void ContextMemory::reset() {
  address_ = 0;
  bytes_ = 0;
  is_open_ = false;
  has_faulted_ = false;
}

DmaStatus ContextMemory::read_queue_pair(uint32_t index, std::span<std::byte> context) {
  const uint64_t address = address_ + uint64_t{index} * spec::QueuePairContext::bytes;
  return checked(host_.read(owner, address, context.data(), context.size()), address);
}

DmaStatus ContextMemory::write_queue_pair(uint32_t index, std::span<const std::byte> context) {
  const uint64_t address = address_ + uint64_t{index} * spec::QueuePairContext::bytes;
  return checked(host_.write(owner, address, context.data(), context.size()), address);
}

DmaStatus ContextMemory::read_page_table(uint32_t first, std::span<spec::PageTableEntry> entries) {
  const uint64_t address = address_ + page_tables() + uint64_t{first} * spec::PageTableEntry::bytes;
  return checked(host_.read(owner, address, entries.data(), entries.size_bytes()), address);
}

DmaStatus ContextMemory::write_page_table(uint32_t first, std::span<const spec::PageTableEntry> entries) {
  const uint64_t address = address_ + page_tables() + uint64_t{first} * spec::PageTableEntry::bytes;
  return checked(host_.write(owner, address, entries.data(), entries.size_bytes()), address);
}

DmaStatus ContextMemory::read_memory_key(uint32_t index, spec::MemoryKeyEntry& entry) {
  const uint64_t address = address_ + memory_keys() + uint64_t{index} * spec::MemoryKeyEntry::bytes;
  return checked(host_.read(owner, address, &entry, sizeof entry), address);
}

DmaStatus ContextMemory::write_memory_key(uint32_t index, const spec::MemoryKeyEntry& entry) {
  const uint64_t address = address_ + memory_keys() + uint64_t{index} * spec::MemoryKeyEntry::bytes;
  return checked(host_.write(owner, address, &entry, sizeof entry), address);
}

// Reports the event once: event_queue itself needs a page table to write it.
DmaStatus ContextMemory::checked(DmaStatus status, uint64_t address) {
  if (status == DmaStatus::ok)
    return status;
  ++counters_.function[owner].dma_faults;
  if (!has_faulted_) {
    has_faulted_ = true;
    spec::EventUnit event;
    event.set_type(spec::EventType::dma_fault);
    event.set_underlying_function(owner);
    event.set_detail(address);
    events_.report(event);
  }
  return status;
}

} // namespace fpga_verbs::hca
