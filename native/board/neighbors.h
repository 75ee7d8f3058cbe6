#pragma once

#include <memory>
#include <vector>

namespace fpga_verbs::board {

class EmulatedBoard;

// The boards that a calling thread has given something to do while it drove its own: it drives them too, when
// it holds no lock any more, so that two boards of one thread wait for no other thread. Work that is too much
// for a call it does at the next, or the boards' own threads do it.
class Neighbors {
public:
  // Of this thread.
  static Neighbors& here();

  // Whether this thread drives a board and will come to the neighbors.
  bool collects() const { return collects_; }
  void add(std::weak_ptr<EmulatedBoard> board) { boards_.push_back(std::move(board)); }

  // Lets `drive` drive a board, then the neighbors. Within itself: only `drive`. Gives
  // what `drive` gives.
  template <class Drive> auto collect(Drive&& drive) {
    if (collects_)
      return drive();
    collects_ = true;
    const auto outcome = drive();
    drive_neighbors();
    collects_ = false;
    return outcome;
  }

private:
  void drive_neighbors();

  std::vector<std::weak_ptr<EmulatedBoard>> boards_;
  bool collects_ = false;
};

} // namespace fpga_verbs::board
