#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace fpga_verbs::board {

class EmulatedBoard;

// The boards that a calling thread still has to run: those for which it has left commands, and those to which
// it has passed work while it ran others. The thread runs them with its next call, after it has
// released all locks, so that two boards of one thread wait for no other thread. If the work is too much for
// one call, the next call or the boards' own threads continue it.
class Neighbors {
public:
  // Commands that a thread leaves before it runs the boards.
  static constexpr unsigned most_commands = 16;

  // Commands that a thread does not leave after it polled behind a single one.
  static constexpr unsigned commands_at_once = 256;

  // The instance of this thread.
  static Neighbors& here() {
    if (here_ == nullptr) [[unlikely]]
      make();
    return *here_;
  }

  // Whether this thread runs a board and will run the neighbors afterwards.
  bool collects() const { return collects_; }
  void add(std::weak_ptr<EmulatedBoard> board) { boards_.push_back(std::move(board)); }

  // Runs the boards that are left, a board with `drive`, then its neighbors. A nested call only runs `drive`.
  // Returns the result of `drive`.
  template <class Drive> auto collect(Drive&& drive) {
    if (collects_)
      return drive();
    collects_ = true;
    if (!boards_.empty())
      drive_neighbors();
    const auto outcome = drive();
    if (!boards_.empty())
      drive_neighbors();
    collects_ = false;
    return outcome;
  }

  // Whether the caller leaves the command that it posts, because it probably posts more before it polls.
  bool leaves_commands() {
    if (at_once_ == 0)
      return true;
    --at_once_;
    return false;
  }

  // Leaves a command of a board to the next call.
  void leave(const std::shared_ptr<EmulatedBoard>& board);

  // The caller polls. A program that polls after each command gains nothing if the device waits for the poll.
  void polls() {
    if (commands_ == 1)
      at_once_ = commands_at_once;
    commands_ = 0;
  }

  // Runs the boards that are left. False: there are none.
  bool run() { return !boards_.empty() && run_boards(); }

private:
  static void make();
  bool run_boards();
  void drive_neighbors();

  // A pointer needs no guard of its construction at each use.
  static inline constinit thread_local Neighbors* here_ = nullptr;

  std::vector<std::weak_ptr<EmulatedBoard>> boards_;
  unsigned commands_ = 0; // left since the last poll
  unsigned at_once_ = 0;  // commands that will not be left
  bool collects_ = false;
};

} // namespace fpga_verbs::board
