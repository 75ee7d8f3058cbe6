#include "board/hca_board.h"

#include "board/hca_board_blocks.h"
#include "board/hca_device.h"

#include <map>
#include <mutex>

namespace fpga_verbs::board {

namespace {

struct NamedBoard {
  std::weak_ptr<EmulatedBoard> board;
  HcaBoardOptions options;
};

struct NamedBoards {
  std::mutex mutex;
  std::map<std::string, NamedBoard> boards;
};

NamedBoards& named_boards() {
  static NamedBoards boards;
  return boards;
}

} // namespace

std::shared_ptr<EmulatedBoard> make_hca_board(const HcaBoardOptions& options, std::string& failure) {
  return make_hca_board(options, hca::model_blocks(), failure);
}

std::shared_ptr<EmulatedBoard> make_hca_board(const HcaBoardOptions& options, const hca::BlockMakers& makers,
                                              std::string& failure) {
  EmulatedBoardOptions board = options.board;
  board.underlying_functions = options.hca.underlying_functions;
  board.clock_frequency = options.hca.clock_frequency;
  board.double_word_only = options.hca.double_word_only;
  board.ports.ports = options.hca.ports;
  board.ports.underlying_functions = options.hca.underlying_functions;
  board.ports.link_layer = options.hca.link_layer;
  const DeviceFactory make_device = [&](const DeviceSlot& slot) {
    hca::HcaParameters parameters = options.hca;
    parameters.board_number = slot.board_number;
    return std::make_unique<HcaDevice>(parameters, slot, makers);
  };
  return EmulatedBoard::make(board, make_device, failure);
}

std::shared_ptr<EmulatedBoard> share_hca_board(const std::string& name, const HcaBoardOptions& options,
                                               std::string& failure) {
  return share_hca_board(name, options, hca::model_blocks(), failure);
}

std::shared_ptr<EmulatedBoard> share_hca_board(const std::string& name, const HcaBoardOptions& options,
                                               const hca::BlockMakers& makers, std::string& failure) {
  NamedBoards& named = named_boards();
  const std::scoped_lock lock(named.mutex);
  std::erase_if(named.boards, [](const auto& entry) { return entry.second.board.expired(); });
  const auto found = named.boards.find(name);
  if (found != named.boards.end()) {
    if (std::shared_ptr<EmulatedBoard> board = found->second.board.lock()) {
      if (found->second.options == options)
        return board;
      failure = "a board named " + name + " is open with other options; use the same ones, or another name";
      return nullptr;
    }
  }
  std::shared_ptr<EmulatedBoard> board = make_hca_board(options, makers, failure);
  if (board != nullptr)
    named.boards.insert_or_assign(name, NamedBoard{board, options});
  return board;
}

} // namespace fpga_verbs::board
