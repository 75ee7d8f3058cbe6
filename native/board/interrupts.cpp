#include "board/interrupts.h"

#include <sys/eventfd.h>

namespace fpga_verbs::board {

void Interrupts::attach(unsigned underlying_function, unsigned vector, int event) {
  vectors_[underlying_function][vector].events.push_back(event);
}

void Interrupts::detach(unsigned underlying_function, unsigned vector, int event) {
  std::erase(vectors_[underlying_function][vector].events, event);
}

void Interrupts::attach(unsigned underlying_function, unsigned vector, const link::OneWaySignal& signal) {
  vectors_[underlying_function][vector].signals.push_back(&signal);
}

void Interrupts::detach(unsigned underlying_function, unsigned vector, const link::OneWaySignal& signal) {
  std::erase(vectors_[underlying_function][vector].signals, &signal);
}

void Interrupts::signal(unsigned underlying_function, unsigned vector) {
  if (underlying_function >= vectors_.size() || vector >= vectors)
    return;
  const Vector& signalled = vectors_[underlying_function][vector];
  for (const int event : signalled.events)
    eventfd_write(event, 1); // fails only at 2^64 - 1 signals that were not taken
  for (const link::OneWaySignal* const signal : signalled.signals)
    signal->raise();
}

} // namespace fpga_verbs::board
