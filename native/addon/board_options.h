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

// An option that is left out is as in `usual`. TypeError or RangeError: a field is unknown or wrong.
NamedBoardOptions board_options(const Napi::Value& value, const hca::HcaParameters& usual);

} // namespace fpga_verbs::addon
