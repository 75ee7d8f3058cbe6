#include "board/neighbours.h"

#include "board/emulated_board.h"

namespace fpga_verbs::board {

namespace {

constexpr size_t most_drives = 64; // of a call

} // namespace

Neighbours& Neighbours::here() {
  thread_local Neighbours neighbours;
  return neighbours;
}

void Neighbours::drive_neighbours() {
  for (size_t next = 0; next < boards_.size(); ++next) {
    const std::weak_ptr<EmulatedBoard> board = boards_[next];
    if (const std::shared_ptr<EmulatedBoard> neighbour = board.lock())
      neighbour->attend(next < most_drives);
  }
  boards_.clear();
}

} // namespace fpga_verbs::board
