#pragma once

#include "board/emulated_board.h"

#include <string>

namespace fpga_verbs::test {

struct ManyThreadsOptions {
  board::ProgressMode progress = board::ProgressMode::shared;
  unsigned messages = 0; // that each of its connections sends each way
  unsigned seed = 1;
};

// Two boards of a fabric, and on each of them threads that post, poll and arm on queue pairs of several
// functions while others make and unmake objects and memory regions of the same functions, reset another
// function, and look at the board. Every message is compared. Empty: all is well; else what is not.
std::string run_many_threads(const ManyThreadsOptions& options);

} // namespace fpga_verbs::test
