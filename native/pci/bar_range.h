#pragma once

#include "board/board.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace fpga_verbs::pci {

// A part of a BAR mapped into this process; the destructor unmaps it.
class BarRange {
public:
  // Maps `bytes` of a file at `file_offset`, both whole pages, as [offset, offset + bytes) of BAR `bar`. Not
  // mapped: errno has the reason.
  static BarRange map(int file, uint64_t file_offset, unsigned bar, uint64_t offset, size_t bytes,
                      board::CommandMapping mapping);

  BarRange(BarRange&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bar_(other.bar_), offset_(other.offset_),
        bytes_(other.bytes_), mapping_(other.mapping_) {}
  BarRange& operator=(BarRange&&) = delete;
  BarRange(const BarRange&) = delete;
  BarRange& operator=(const BarRange&) = delete;
  ~BarRange();

  explicit operator bool() const { return memory_ != nullptr; }
  volatile uint8_t* memory() const { return memory_; }
  size_t bytes() const { return bytes_; }
  unsigned bar() const { return bar_; }
  board::CommandMapping mapping() const { return mapping_; }

  // The address of an access of `bytes` at `offset` of the BAR; null: not in this range.
  volatile uint8_t* find(unsigned bar, uint64_t offset, size_t bytes) const {
    const bool inside =
        bar == bar_ && offset >= offset_ && bytes <= bytes_ && offset - offset_ <= bytes_ - bytes;
    return inside ? memory_ + (offset - offset_) : nullptr;
  }

private:
  BarRange(volatile uint8_t* memory, unsigned bar, uint64_t offset, size_t bytes,
           board::CommandMapping mapping)
      : memory_(memory), bar_(bar), offset_(offset), bytes_(bytes), mapping_(mapping) {}

  volatile uint8_t* memory_;
  unsigned bar_;
  uint64_t offset_;
  size_t bytes_;
  board::CommandMapping mapping_;
};

} // namespace fpga_verbs::pci
