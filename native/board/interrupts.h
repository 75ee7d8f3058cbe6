#pragma once

#include "link/one_way_signal.h"
#include "spec/parameters.h"

#include <array>
#include <vector>

namespace fpga_verbs::board {

// The MSI-X vectors of all functions. Each signals the subscribers that opened the function: in this process
// by an eventfd, in another process by a signal that its reader cannot hold up. Not thread-safe: under the
// board's lock.
class Interrupts {
public:
  static constexpr unsigned vectors = spec::event_queues_per_function;

  // Attaches the caller's eventfd or signal until it is detached. The function and the vector are in range.
  void attach(unsigned underlying_function, unsigned vector, int event);
  void detach(unsigned underlying_function, unsigned vector, int event);
  void attach(unsigned underlying_function, unsigned vector, const link::OneWaySignal& signal);
  void detach(unsigned underlying_function, unsigned vector, const link::OneWaySignal& signal);

  void signal(unsigned underlying_function, unsigned vector);

private:
  struct Vector {
    std::vector<int> events;
    std::vector<const link::OneWaySignal*> signals;
  };

  std::array<std::array<Vector, vectors>, spec::underlying_functions> vectors_;
};

} // namespace fpga_verbs::board
