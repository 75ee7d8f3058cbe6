#pragma once

#include <bit>
#include <cstdint>

namespace fpga_verbs::hca {

// A part of the HCA that works one data unit at a time.
class Block {
public:
  virtual ~Block() = default;

  // Does one unit of work. False: there is nothing to do until the block is woken.
  virtual bool step() = 0;
};

// The blocks that have work, one bit each. Nothing is swept: a block that sleeps costs nothing.
class ReadyBlocks {
public:
  void wake(unsigned block) { bits_ |= uint64_t{1} << block; }
  void sleep(unsigned block) { bits_ &= ~(uint64_t{1} << block); }
  bool is_awake(unsigned block) const { return (bits_ >> block & 1) != 0; }
  bool any() const { return bits_ != 0; }

  // The next ready block after the last one taken, round robin. Call only when any() holds.
  unsigned next() {
    const uint64_t after = bits_ & (~uint64_t{0} << 1 << last_);
    last_ = static_cast<unsigned>(std::countr_zero(after != 0 ? after : bits_));
    return last_;
  }

private:
  uint64_t bits_ = 0;
  unsigned last_ = 62;
};

// Wakes one block.
class Waker {
public:
  Waker() = default;
  Waker(ReadyBlocks& ready, unsigned block) : ready_(&ready), block_(block) {}
  void wake() const {
    if (ready_ != nullptr)
      ready_->wake(block_);
  }

private:
  ReadyBlocks* ready_ = nullptr;
  unsigned block_ = 0;
};

} // namespace fpga_verbs::hca
