#pragma once

#include "hca/base/event_port.h"
#include "hca/base/host_port.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fpga_verbs::bench {

// Host memory for contexts and tables of the model, from address 0 on.
class ContextHost final : public hca::HostPort {
public:
  explicit ContextHost(uint64_t bytes) : memory_(bytes) {}
  hca::DmaStatus read(unsigned, uint64_t address, void* destination, size_t bytes) override {
    std::memcpy(destination, memory_.data() + address, bytes);
    return hca::DmaStatus::ok;
  }
  hca::DmaStatus write(unsigned, uint64_t address, const void* source, size_t bytes) override {
    std::memcpy(memory_.data() + address, source, bytes);
    return hca::DmaStatus::ok;
  }
  void interrupt(unsigned, unsigned) override { std::abort(); }

private:
  std::vector<uint8_t> memory_;
};

class NoEvents final : public hca::EventPort {
public:
  void report(const spec::EventUnit&) override { std::abort(); }
};

} // namespace fpga_verbs::bench
