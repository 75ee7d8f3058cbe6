#pragma once

#include "hca/base/clock.h"
#include "hca/base/host_port.h"
#include "spec/parameters.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace fpga_verbs::test {

// Host memory for block tests: one flat buffer that every function reaches, at DMA addresses from `base` on.
// Each access outside of it faults, and a test can inject faults.
class TestHost final : public hca::HostPort {
public:
  static constexpr uint64_t base = 0x1'0000'0000;

  explicit TestHost(size_t bytes);

  hca::DmaStatus read(unsigned underlying_function, uint64_t address, void* destination,
                      size_t bytes) override;
  hca::DmaStatus write(unsigned underlying_function, uint64_t address, const void* source,
                       size_t bytes) override;
  void interrupt(unsigned underlying_function, unsigned vector) override;

  uint8_t* memory() { return memory_.data(); }
  size_t bytes() const { return memory_.size(); }

  // Makes the accesses of one function to [begin, end) fault; without arguments, no access.
  struct FaultRange {
    unsigned underlying_function = 0;
    uint64_t begin = 0; // DMA address
    uint64_t end = 0;
  };
  void set_faults(std::vector<FaultRange> faults) { faults_ = std::move(faults); }

  // Makes access number `access` from now on fault once (0: the next one).
  void fault_access(uint64_t access) { fault_at_ = accesses_ + access; }

  uint64_t reads() const { return reads_; }
  uint64_t writes() const { return writes_; }
  uint64_t accesses_of(unsigned underlying_function) const { return accesses_of_[underlying_function]; }
  uint64_t interrupts(unsigned underlying_function, unsigned vector) const {
    return interrupts_[underlying_function][vector];
  }

private:
  bool faults(unsigned underlying_function, uint64_t address, size_t bytes);

  std::vector<uint8_t> memory_;
  std::vector<FaultRange> faults_;
  std::optional<uint64_t> fault_at_;
  uint64_t accesses_ = 0;
  uint64_t reads_ = 0;
  uint64_t writes_ = 0;
  std::array<uint64_t, spec::underlying_functions> accesses_of_{};
  std::array<std::array<uint64_t, spec::event_queues_per_function>, spec::underlying_functions> interrupts_{};
};

// A clock that a test sets.
class TestClock final : public hca::Clock {
public:
  uint64_t now() const override { return std::exchange(now_, now_ + ticks_per_look_); }
  // It stands still, or advances with every read.
  void set(uint64_t now, uint64_t ticks_per_look = 0) {
    now_ = now;
    ticks_per_look_ = ticks_per_look;
  }

private:
  mutable uint64_t now_ = 0;
  uint64_t ticks_per_look_ = 0;
};

} // namespace fpga_verbs::test
