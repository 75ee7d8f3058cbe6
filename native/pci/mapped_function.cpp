#include "pci/mapped_function.h"

#include "pci/mmio.h"

#include <utility>

namespace fpga_verbs::pci {

using board::CommandMapping;

namespace {

constexpr uint32_t all_ones = 0xffffffff;
constexpr unsigned line = 64;
constexpr size_t segment = 8;

} // namespace

MappedFunction::MappedFunction(const char* backend, unsigned underlying_function)
    : command_store_(&choose_command_store(false)) {
  facts_.backend = backend;
  facts_.progress = "own";
  facts_.clock = "the device";
  facts_.mapping = CommandMapping::uncached;
  facts_.command_store = command_store_->name;
  facts_.store_bytes = command_store_->whole_lines ? line : segment;
  facts_.underlying_function = underlying_function;
}

bool MappedFunction::add(BarRange&& range) {
  if (!faults_.watch(range.memory(), range.bytes()))
    return false;
  if (range.mapping() == CommandMapping::write_combining) {
    command_store_ = &choose_command_store(true);
    facts_.mapping = CommandMapping::write_combining;
    facts_.command_store = command_store_->name;
    facts_.store_bytes = line;
  }
  ranges_.push_back(std::move(range));
  return true;
}

const char* MappedFunction::loss() {
  return faults_.happened() ? "its BARs do not answer: it was removed, or its memory accesses are disabled"
                            : nullptr;
}

void MappedFunction::give_up() {
  faults_.forget();
  ranges_.clear();
}

// Does nothing when the function is gone: other code may by then write to the page of ones.
volatile uint8_t* MappedFunction::find(unsigned bar, uint64_t offset, size_t bytes) const {
  if (faults_.happened())
    return nullptr;
  for (const BarRange& range : ranges_)
    if (volatile uint8_t* const address = range.find(bar, offset, bytes))
      return address;
  return nullptr;
}

uint32_t MappedFunction::read32(unsigned bar, uint64_t offset) {
  const volatile uint8_t* const address = find(bar, offset, sizeof(uint32_t));
  if (address == nullptr)
    return all_ones;
  flush_write_combining(); // a read pushes posted writes before it, but only those that have left
  const uint32_t value = mmio_read32(address);
  register_before_host_memory();
  return value;
}

void MappedFunction::write32(unsigned bar, uint64_t offset, uint32_t value) {
  volatile uint8_t* const address = find(bar, offset, sizeof value);
  if (address == nullptr)
    return;
  host_memory_before_register();
  mmio_write32(address, value);
}

void MappedFunction::write64(unsigned bar, uint64_t offset, uint64_t value) {
  volatile uint8_t* const address = find(bar, offset, sizeof value);
  if (address == nullptr)
    return;
  host_memory_before_command(); // a doorbell slot may combine
  mmio_write64(address, value);
}

void MappedFunction::write_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) {
  store_command(bar, offset, source, bytes);
  fence();
}

void MappedFunction::store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) {
  const size_t whole = (bytes + segment - 1) / segment * segment;
  volatile uint8_t* const address = find(bar, offset, whole);
  if (address == nullptr)
    return;
  host_memory_before_command();
  command_store_->store(address, source, whole);
}

void MappedFunction::fence() { flush_write_combining(); }

} // namespace fpga_verbs::pci
