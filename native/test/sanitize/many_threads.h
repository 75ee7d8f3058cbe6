#pragma once

#include "board/emulated_board.h"

#include <string>

namespace fpga_verbs::test {

struct ManyThreadsOptions {
  board::ProgressMode progress = board::ProgressMode::shared;
  unsigned messages = 0; // that each connection sends in each direction
  unsigned seed = 1;
};

// Two boards of a fabric. On each, threads post, poll and arm on queue pairs of several functions, while
// others create and destroy objects and memory regions of the same functions, reset another function, and
// observe the board. Every message is compared. Returns an empty text, or the first failure.
std::string run_many_threads(const ManyThreadsOptions& options);

} // namespace fpga_verbs::test
