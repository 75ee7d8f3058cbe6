#pragma once

#include "board/hca_board.h"
#include "hca/block_makers.h"

#include <memory>
#include <string>

namespace fpga_verbs::board {

// As the functions without makers, for an Hca whose blocks these makers create. The makers outlive the board;
// boards with the same name have the same makers.
std::shared_ptr<EmulatedBoard> make_hca_board(const HcaBoardOptions& options, const hca::BlockMakers& makers,
                                              std::string& failure);
std::shared_ptr<EmulatedBoard> share_hca_board(const std::string& name, const HcaBoardOptions& options,
                                               const hca::BlockMakers& makers, std::string& failure);

} // namespace fpga_verbs::board
