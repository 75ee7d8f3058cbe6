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

// Creates an emulated board with an Hca. Null: `failure` says why its fabric or link does not accept it.
std::shared_ptr<EmulatedBoard> make_hca_board(const HcaBoardOptions& options, std::string& failure);

// Returns the board of this name in the process, creating it if necessary. Null: `failure` gives the reason:
// a board of this name has other options, or as make_hca_board. Thread-safe.
std::shared_ptr<EmulatedBoard> share_hca_board(const std::string& name, const HcaBoardOptions& options,
                                               std::string& failure);

} // namespace fpga_verbs::board
