#pragma once

#include "hca/base/wiring.h"
#include "spec/parameters.h"

namespace fpga_verbs::hca {

// The blocks that are RTL, as the identity registers report them.
struct RtlBlocks {
  unsigned beat_bytes = spec::beat_bytes; // at the ports of all blocks
#define FPGA_VERBS_NONE(...)
#define FPGA_VERBS_RTL(name, ...) bool name = false;
  FPGA_VERBS_BLOCKS(FPGA_VERBS_NONE, FPGA_VERBS_RTL, FPGA_VERBS_NONE)
#undef FPGA_VERBS_RTL
#undef FPGA_VERBS_NONE
};

} // namespace fpga_verbs::hca
