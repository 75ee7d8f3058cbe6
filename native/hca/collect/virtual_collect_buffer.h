#pragma once

#include "hca/collect/physical_collect_buffer.h"
#include "hca/collect/scoreboard.h"
#include "spec/commands.h"
#include "spec/enums.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

// A doorbell slot of a VCB page: complete when both DWORDs have arrived, in any order.
struct DoorbellSlotState {
  spec::DoorbellSlotWrite value;
  uint32_t received = 0; // 2 bits, bit i = DWORD i
};

// A virtual collect buffer: a page of the BAR to which the host writes a command, and the PCB to which it is
// bound (US8589610, 76 to 82).
struct VirtualCollectBuffer {
  spec::VirtualCollectBufferState state = spec::VirtualCollectBufferState::free;
  spec::Refusal refusal = spec::Refusal::none;
  uint16_t physical_collect_buffer = no_buffer;
  uint64_t first_write = 0; // clock ticks; of a command that it did not complete

  // Send queue mode: the parts extracted from the command.
  ReceivedDwords received;
  spec::CommandHeader segment_0; // segment 0 alone

  std::array<DoorbellSlotState, 3> slots{};
};

} // namespace fpga_verbs::hca
