#pragma once

#include "board/hca_board.h"

#include <string>

namespace fpga_verbs::driver {

// An emulated board as a device string names it: emu:[UF][?OPTION=VALUE&…], or rtl: with blocks in RTL; the
// options are those of lib/board/device_string.ts.
struct EmulatedDevice {
  unsigned underlying_function = 0;
  std::string name;    // of a board that the process shares; empty: it has its own
  std::string capture; // file that its packets go to; empty: none. {pid} stands for the process' number
  board::HcaBoardOptions options;
};

// Takes such a device string apart; what it does not name stays as it is in `parsed`. False: `failure` names
// the part that is wrong, and what would be right.
bool parse_emulated(const std::string& device, EmulatedDevice& parsed, std::string& failure);

} // namespace fpga_verbs::driver
