#pragma once

#include "board/hca_board.h"

#include <napi.h>

#include <string>

namespace fpga_verbs::addon {

// BoardOptions of lib/board/addon.ts.
struct NamedBoardOptions {
  std::string name;
  std::string capture; // file; empty: none
  board::HcaBoardOptions options;
};

// TypeError or RangeError: a field is unknown or wrong.
NamedBoardOptions board_options(const Napi::Value& value);

} // namespace fpga_verbs::addon
