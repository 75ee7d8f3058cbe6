#pragma once

#include "hca/base/event_port.h"
#include "hca/base/rtl_blocks.h"
#include "hca/base/wiring.h"
#include "hca/collect/collect_buffer.h"
#include "hca/kick/virtual_kick.h"

#include <memory>

namespace fpga_verbs::hca {

// Makers of the RTL blocks; null: the device model's block. Also where blocks report events.
struct BlockMakers {
#define FPGA_VERBS_NONE(...)
#define FPGA_VERBS_MAKER(name, Block, ...)                                                                   \
  std::unique_ptr<Block> (*name)(const Block::Ports& ports) = nullptr;
  FPGA_VERBS_BLOCKS(FPGA_VERBS_NONE, FPGA_VERBS_MAKER, FPGA_VERBS_NONE)
#undef FPGA_VERBS_MAKER

  EventPort* events = nullptr; // null: event_queue

  unsigned beat_bytes = spec::beat_bytes; // at the ports of all blocks

  RtlBlocks rtl() const {
    RtlBlocks rtl{.beat_bytes = beat_bytes};
#define FPGA_VERBS_RTL(name, ...) rtl.name = name != nullptr;
    FPGA_VERBS_BLOCKS(FPGA_VERBS_NONE, FPGA_VERBS_RTL, FPGA_VERBS_NONE)
#undef FPGA_VERBS_RTL
#undef FPGA_VERBS_NONE
    return rtl;
  }
};

} // namespace fpga_verbs::hca
