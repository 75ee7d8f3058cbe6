#pragma once

#include "board/emulated_board.h"
#include "hca/base/parameters.h"

#include <memory>
#include <string>

namespace fpga_verbs::board {

// Options of an emulated board with an Hca.
struct HcaBoardOptions {
  EmulatedBoardOptions board; // functions, clock, bridge and kind of ports are taken from `hca`
  hca::HcaParameters hca;     // pass check_parameters(); the board number is taken from `board`
  bool operator==(const HcaBoardOptions&) const = default;
};

// Makes an emulated board with an Hca. Null: `failure` says why there is no place for it in its fabric, or at
// its link.
std::shared_ptr<EmulatedBoard> make_hca_board(const HcaBoardOptions& options, std::string& failure);

// The board of this name in the process, made when there is none. Null: `failure` says why; there is one with
// other options, or as make_hca_board. Thread-safe.
std::shared_ptr<EmulatedBoard> share_hca_board(const std::string& name, const HcaBoardOptions& options,
                                               std::string& failure);

} // namespace fpga_verbs::board
