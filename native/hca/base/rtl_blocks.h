#pragma once

#include "spec/parameters.h"

namespace fpga_verbs::hca {

// The blocks that are RTL, as the identity registers report them.
struct RtlBlocks {
  unsigned beat_bytes = spec::beat_bytes; // at the ports of all blocks
  bool virtual_kick = false;
  bool collect_buffer = false;
};

} // namespace fpga_verbs::hca
