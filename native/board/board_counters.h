#pragma once

#include <cstdint>

namespace fpga_verbs::board {

// Counts of a board since it was made.
struct BoardCounters {
  uint64_t writes = 0;             // write transactions that reached the device
  uint64_t reads = 0;              // reads that the device answered
  uint64_t writes_unsupported = 0; // outside the regions of the function: dropped
  uint64_t reads_unsupported = 0;  // outside the regions of the function: answered by all ones
  uint64_t writes_lost = 0;        // dropped by a fault
  uint64_t dma_faults = 0;
  uint64_t interrupts = 0;
  uint64_t interrupts_lost = 0; // by a fault
  uint64_t steps = 0;           // units of work
};

} // namespace fpga_verbs::board
