#include "board/board_watch.h"

#include "board/emulated_board.h"

#include <utility>

namespace fpga_verbs::board {

BoardWatch::BoardWatch(std::shared_ptr<EmulatedBoard> board, unsigned underlying_function, WatchKind kind,
                       const WatchMemory& memory)
    : board_(std::move(board)), underlying_function_(underlying_function), kind_(kind), memory_(memory),
      reader_(memory.header(), memory.words()) {}

BoardWatch::~BoardWatch() { end(); }

void BoardWatch::pause() {
  if (!std::exchange(is_paused_, true))
    board_->pause_watch(underlying_function_, kind_);
}

void BoardWatch::resume() {
  if (std::exchange(is_paused_, false))
    board_->resume_watch(underlying_function_, kind_);
}

std::optional<WatchMemory> BoardWatch::end() {
  if (board_ != nullptr)
    resume();
  const std::shared_ptr<EmulatedBoard> board = std::exchange(board_, nullptr);
  return board == nullptr ? std::nullopt : board->end_watch(underlying_function_, kind_);
}

} // namespace fpga_verbs::board
