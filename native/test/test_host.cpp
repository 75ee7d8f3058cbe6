#include "test/test_host.h"

#include <cstring>

namespace fpga_verbs::test {

using hca::DmaStatus;

TestHost::TestHost(size_t bytes) : memory_(bytes) {}

bool TestHost::faults(unsigned underlying_function, uint64_t address, size_t bytes) {
  ++accesses_of_[underlying_function];
  if (accesses_++ == fault_at_) {
    fault_at_.reset();
    return true;
  }
  for (const FaultRange& range : faults_)
    if (range.underlying_function == underlying_function && address < range.end &&
        address + bytes > range.begin)
      return true;
  return address < base || bytes > memory_.size() || address - base > memory_.size() - bytes;
}

DmaStatus TestHost::read(unsigned underlying_function, uint64_t address, void* destination, size_t bytes) {
  ++reads_;
  if (faults(underlying_function, address, bytes))
    return DmaStatus::fault;
  std::memcpy(destination, memory_.data() + (address - base), bytes);
  return DmaStatus::ok;
}

DmaStatus TestHost::write(unsigned underlying_function, uint64_t address, const void* source, size_t bytes) {
  ++writes_;
  if (faults(underlying_function, address, bytes))
    return DmaStatus::fault;
  std::memcpy(memory_.data() + (address - base), source, bytes);
  return DmaStatus::ok;
}

void TestHost::interrupt(unsigned underlying_function, unsigned vector) {
  ++interrupts_[underlying_function][vector];
}

} // namespace fpga_verbs::test
