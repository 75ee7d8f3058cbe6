#pragma once

#include "board/hca_board.h"

#include <memory>
#include <string>

namespace fpga_verbs::driver {

// How boards with blocks in RTL are made, in a library that has them.
struct RtlBoards {
  hca::HcaParameters usual; // sizes of a board that names none
  // As board::share_hca_board(); without a name, a board of its own.
  std::shared_ptr<board::EmulatedBoard> (*make)(const std::string& name,
                                                const board::HcaBoardOptions& options, std::string& failure);
};

// Offers them to open_backend(). Before a device is opened; `boards` outlives all devices.
void offer_rtl_boards(const RtlBoards& boards);

// Those that were offered; null: the library has no RTL.
const RtlBoards* rtl_boards();

} // namespace fpga_verbs::driver
