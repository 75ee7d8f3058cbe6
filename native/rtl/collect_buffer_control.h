#pragma once

#include <cstdint>

namespace fpga_verbs::rtl {

// Control commands of collect_buffer in SystemVerilog, at its port control_command. Pages are VCBs and,
// behind them, the management pages of the functions; for `lock`, cancel or close gives back.
enum class CollectBufferControl : uint8_t {
  cancel = 0,
  close = 1,
  open = 2,
  lock = 3,
  take_dedicated = 4,
  take_management = 5,
  take_kick_number = 6,
};

} // namespace fpga_verbs::rtl
