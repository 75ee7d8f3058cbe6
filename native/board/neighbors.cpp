#include "board/neighbors.h"

#include "board/emulated_board.h"

#include <utility>

namespace fpga_verbs::board {

namespace {

constexpr size_t most_drives = 64; // of a call

} // namespace

Neighbors& Neighbors::here() {
  thread_local Neighbors neighbors;
  return neighbors;
}

void Neighbors::drive_neighbors() {
  size_t next = 0;
  for (; next < boards_.size() && next < most_drives; ++next) {
    const std::weak_ptr<EmulatedBoard> board = std::move(boards_[next]);
    if (const std::shared_ptr<EmulatedBoard> neighbor = board.lock())
      neighbor->attend(Attendance::drive);
  }
  boards_.erase(boards_.begin(), boards_.begin() + static_cast<std::ptrdiff_t>(next));
  for (const std::weak_ptr<EmulatedBoard>& board : boards_)
    if (const std::shared_ptr<EmulatedBoard> neighbor = board.lock())
      neighbor->attend(Attendance::leave);
}

} // namespace fpga_verbs::board
