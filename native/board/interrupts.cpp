#include "board/interrupts.h"

#include <sys/eventfd.h>

namespace fpga_verbs::board {

void Interrupts::attach(unsigned underlying_function, unsigned vector, int event) {
  events_[underlying_function][vector].push_back(event);
}

void Interrupts::detach(unsigned underlying_function, unsigned vector, int event) {
  std::erase(events_[underlying_function][vector], event);
}

void Interrupts::signal(unsigned underlying_function, unsigned vector) {
  if (underlying_function >= events_.size() || vector >= vectors)
    return;
  for (const int event : events_[underlying_function][vector])
    eventfd_write(event, 1); // fails only at 2^64 - 1 signals that nobody took
}

} // namespace fpga_verbs::board
