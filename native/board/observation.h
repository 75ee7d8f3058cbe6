#pragma once

#include "board/watch_memory.h"
#include "hca/base/object_facts.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace fpga_verbs::board {

// One of a row of accesses to registers: what is read, or written.
struct RegisterAccess {
  static constexpr uint32_t write_bit = 1; // of `place`
  uint32_t place = 0;                      // offset in the BAR, a multiple of 4, and whether it is a write
  uint32_t value = 0;

  uint32_t offset() const { return place & ~write_bit; }
  bool is_write() const { return (place & write_bit) != 0; }
};

// An observer of a function is handed out this beside its registers, on any backend that has it. Nothing of
// it changes the board, and the board never waits for an observer.
class Observation {
public:
  virtual ~Observation() = default;

  // It ends before the function is closed. Null: this kind is not for an observer of this function, or there
  // is no memory.
  virtual std::unique_ptr<Watch> watch(WatchKind kind) = 0;

  // Accesses to registers in their order, as the function's read32() and write32() would carry them out, at
  // the cost of one wait for them all.
  virtual void access(unsigned bar, std::span<RegisterAccess> accesses) = 0;

  // Adds up to hca::most_inspected objects that exist from an index on. Gives the index to go on from; 0:
  // that was all.
  virtual uint32_t queue_pairs(uint32_t from, std::vector<hca::QueuePairFacts>& found) = 0;
  virtual uint32_t regions(uint32_t from, std::vector<hca::RegionFacts>& found) = 0;
};

} // namespace fpga_verbs::board
