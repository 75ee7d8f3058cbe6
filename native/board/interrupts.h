#pragma once

#include "spec/parameters.h"

#include <array>
#include <vector>

namespace fpga_verbs::board {

// The MSI-X vectors of all functions: each signals the eventfds of those who opened the function and asked
// for it. Not thread-safe: under the board's lock.
class Interrupts {
public:
  static constexpr unsigned vectors = spec::event_queues_per_function;

  // `event`: an eventfd of the caller, until it is detached. The function and the vector are in range.
  void attach(unsigned underlying_function, unsigned vector, int event);
  void detach(unsigned underlying_function, unsigned vector, int event);

  void signal(unsigned underlying_function, unsigned vector);

private:
  std::array<std::array<std::vector<int>, vectors>, spec::underlying_functions> events_;
};

} // namespace fpga_verbs::board
