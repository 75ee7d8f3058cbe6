#pragma once

#include "hca_front_bench.h"

#include <cstdint>

namespace fpga_verbs::bench {

// Commands of queue pairs that are gone when the command comes to its lane.
class QueuePairCases {
public:
  explicit QueuePairCases(HcaFrontBench& bench) : bench_(bench) {}

  // More commands than there are PCBs, none of which is listed: the PCB of each is released, or no later
  // command finds one.
  void release_stale() {
    constexpr uint32_t commands = 2 * PHYSICAL_COLLECT_BUFFERS;
    bench_.rtl().pinned = 0;
    for (uint32_t number = 0; number < commands; ++number) {
      bench_.write_command(0, bench_.command(number, 0));
      bench_.steps(clocks_to_lane);
    }
    bench_.rtl().pinned = 1;
  }

private:
  static constexpr uint32_t clocks_to_lane = 64; // At most, from the last write.

  HcaFrontBench& bench_;
};

} // namespace fpga_verbs::bench
