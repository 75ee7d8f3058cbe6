#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

// A part of the HCA that processes one data unit at a time.
class Block {
public:
  virtual ~Block() = default;

  // Does one unit of work. True: there may be more. False: there is no work until the block is woken. A block
  // returns false right after its last data unit, to avoid a step that finds nothing.
  virtual bool step() = 0;
};

// The blocks that have work, one bit each. Nothing is scanned: a sleeping block costs nothing.
class ReadyBlocks {
public:
  static constexpr uint64_t bit(unsigned block) { return uint64_t{1} << block; }

  void wake(unsigned block) { wake_bit(bit(block)); }
  void wake_bit(uint64_t block) { bits_ |= block; }
  void sleep(unsigned block) { bits_ &= ~bit(block); }
  bool is_awake(unsigned block) const { return (bits_ & bit(block)) != 0; }
  bool any() const { return bits_ != 0; }

  // The number of the next ready block after the last one taken, round robin. Call only when any() holds.
  unsigned next() {
    const uint64_t after = bits_ & behind_;
    const uint64_t left = after != 0 ? after : bits_;
    behind_ = ~(left ^ (left - 1));
    return static_cast<unsigned>(__builtin_ctzll(left));
  }

private:
  uint64_t bits_ = 0;
  uint64_t behind_ = ~uint64_t{0}; // blocks behind the last one taken
};

// Wakes one block.
class Waker {
public:
  Waker() = default;
  Waker(ReadyBlocks& ready, unsigned block) : ready_(&ready), bit_(ReadyBlocks::bit(block)) {}
  void wake() const {
    if (ready_ != nullptr)
      ready_->wake_bit(bit_);
  }

private:
  ReadyBlocks* ready_ = nullptr;
  uint64_t bit_ = 0; // of the block
};

} // namespace fpga_verbs::hca
