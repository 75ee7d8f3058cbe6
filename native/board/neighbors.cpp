#include "board/neighbors.h"

#include "board/emulated_board.h"

namespace fpga_verbs::board {

namespace {

constexpr size_t most_drives = 64; // of a call

} // namespace

void Neighbors::make() {
  thread_local Neighbors neighbors;
  here_ = &neighbors;
}

void Neighbors::leave(const std::shared_ptr<EmulatedBoard>& board) {
  if (boards_.empty() || boards_.back().owner_before(board) || board.owner_before(boards_.back()))
    boards_.emplace_back(board);
  if (++commands_ % most_commands == 0)
    run();
}

bool Neighbors::run_boards() {
  return collect([] { return true; });
}

void Neighbors::drive_neighbors() {
  size_t next = 0;
  for (; next < boards_.size() && next < most_drives; ++next)
    if (const std::shared_ptr<EmulatedBoard> neighbor = boards_[next].lock())
      neighbor->attend(Attendance::drive);
  if (next == boards_.size())
    return boards_.clear();
  boards_.erase(boards_.begin(), boards_.begin() + static_cast<std::ptrdiff_t>(next));
  for (const std::weak_ptr<EmulatedBoard>& board : boards_)
    if (const std::shared_ptr<EmulatedBoard> neighbor = board.lock())
      neighbor->attend(Attendance::leave);
}

} // namespace fpga_verbs::board
