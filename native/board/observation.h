#pragma once

#include "board/watch_memory.h"
#include "hca/base/object_facts.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace fpga_verbs::board {

// One register access of a sequence: a read or a write.
struct RegisterAccess {
  static constexpr uint32_t write_bit = 1; // of `place`
  uint32_t place = 0;                      // offset in the BAR, a multiple of 4, and whether it is a write
  uint32_t value = 0;

  uint32_t offset() const { return place & ~write_bit; }
  bool is_write() const { return (place & write_bit) != 0; }
};

// An observer's access to the activity of a function, in addition to its registers, on any backend that
// supports it. Observers do not change the board, and the board never waits for them.
class Observation {
public:
  virtual ~Observation() = default;

  // Starts a watch, which ends before the function is closed. Null: this function's observers cannot watch
  // this kind, or there is no memory.
  virtual std::unique_ptr<Watch> watch(WatchKind kind) = 0;

  // Accesses registers in order, as the function's read32() and write32() would, with a single wait for all
  // of them.
  virtual void access(unsigned bar, std::span<RegisterAccess> accesses) = 0;

  // Appends up to hca::most_inspected existing objects from an index on. Returns the next index; 0: there are
  // no more.
  virtual uint32_t queue_pairs(uint32_t from, std::vector<hca::QueuePairFacts>& found) = 0;
  virtual uint32_t regions(uint32_t from, std::vector<hca::RegionFacts>& found) = 0;
};

} // namespace fpga_verbs::board
