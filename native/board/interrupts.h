#pragma once

#include "spec/parameters.h"

#include <array>
#include <atomic>

namespace fpga_verbs::board {

// The MSI-X vectors of all functions, an eventfd each, made when first asked for. Thread-safe.
class Interrupts {
public:
  static constexpr unsigned vectors = spec::event_queues_per_function;

  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // The eventfd of a vector, owned by this object; -1: no such vector, or the system has no descriptor left.
  int event(unsigned underlying_function, unsigned vector);

  void signal(unsigned underlying_function, unsigned vector);

private:
  std::array<std::array<std::atomic<int>, vectors>, spec::underlying_functions> events_;
};

} // namespace fpga_verbs::board
