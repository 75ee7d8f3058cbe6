#pragma once

#include <memory>
#include <vector>

namespace fpga_verbs::board {

class EmulatedBoard;

// The boards to which a calling thread has passed work while it ran its own. The thread runs them too, after
// it has released all locks, so that two boards of one thread wait for no other thread. If the work is too
// much for one call, the next call or the boards' own threads continue it.
class Neighbors {
public:
  // The instance of this thread.
  static Neighbors& here() {
    if (here_ == nullptr) [[unlikely]]
      make();
    return *here_;
  }

  // Whether this thread runs a board and will run the neighbors afterwards.
  bool collects() const { return collects_; }
  void add(std::weak_ptr<EmulatedBoard> board) { boards_.push_back(std::move(board)); }

  // Runs a board with `drive`, then its neighbors. A nested call only runs `drive`. Returns the result of
  // `drive`.
  template <class Drive> auto collect(Drive&& drive) {
    if (collects_)
      return drive();
    collects_ = true;
    const auto outcome = drive();
    if (!boards_.empty())
      drive_neighbors();
    collects_ = false;
    return outcome;
  }

private:
  static void make();
  void drive_neighbors();

  // A pointer needs no guard of its construction at each use.
  static inline constinit thread_local Neighbors* here_ = nullptr;

  std::vector<std::weak_ptr<EmulatedBoard>> boards_;
  bool collects_ = false;
};

} // namespace fpga_verbs::board
