#pragma once

#include "board/hca_board.h"

#include <memory>
#include <string>

namespace fpga_verbs::rtl {

// Creates an emulated board with the Verilated blocks in the place of the model's; with a name, returns the
// board of this name in the process. Null: `failure` says why, as board::share_hca_board, or which size the
// RTL does not have.
std::shared_ptr<board::EmulatedBoard>
make_rtl_board(const std::string& name, const board::HcaBoardOptions& options, std::string& failure);

} // namespace fpga_verbs::rtl
