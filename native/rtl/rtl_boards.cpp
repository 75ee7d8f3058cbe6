#include "rtl/rtl_boards.h"

#include "board/hca_board_blocks.h"
#include "rtl/collect_buffer_rtl.h"
#include "rtl/rtl_sizes.h"
#include "rtl/virtual_kick_rtl.h"

namespace fpga_verbs::rtl {

namespace {

template <class Block, class Rtl> std::unique_ptr<Block> make(const typename Block::Ports& ports) {
  return std::make_unique<Rtl>(ports);
}

const hca::BlockMakers makers{.collect_buffer = make<hca::CollectBufferPort, CollectBufferRtl>,
                              .virtual_kick = make<hca::VirtualKickPort, VirtualKickRtl>,
                              .beat_bytes = beat_bytes_of_rtl};

} // namespace

std::shared_ptr<board::EmulatedBoard>
make_rtl_board(const std::string& name, const board::HcaBoardOptions& options, std::string& failure) {
  failure = check_sizes(options.hca);
  if (!failure.empty())
    return nullptr;
  return name.empty() ? board::make_hca_board(options, makers, failure)
                      : board::share_hca_board(name, options, makers, failure);
}

} // namespace fpga_verbs::rtl
