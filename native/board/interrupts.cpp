#include "board/interrupts.h"

#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace fpga_verbs::board {

Interrupts::Interrupts() {
  for (auto& function : events_)
    for (auto& event : function)
      event.store(-1, std::memory_order_relaxed);
}

Interrupts::~Interrupts() {
  for (auto& function : events_)
    for (auto& event : function)
      if (const int descriptor = event.load(std::memory_order_relaxed); descriptor >= 0)
        close(descriptor);
}

int Interrupts::event(unsigned underlying_function, unsigned vector) {
  if (underlying_function >= events_.size() || vector >= vectors)
    return -1;
  auto& event = events_[underlying_function][vector];
  int descriptor = event.load(std::memory_order_acquire);
  if (descriptor >= 0)
    return descriptor;
  const int made = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (made >= 0 && !event.compare_exchange_strong(descriptor, made, std::memory_order_acq_rel)) {
    close(made); // another thread was faster
    return descriptor;
  }
  return made;
}

void Interrupts::signal(unsigned underlying_function, unsigned vector) {
  if (underlying_function >= events_.size() || vector >= vectors)
    return;
  const int descriptor = events_[underlying_function][vector].load(std::memory_order_acquire);
  if (descriptor >= 0)
    eventfd_write(descriptor, 1); // fails only at 2^64 - 1 signals that nobody took
}

} // namespace fpga_verbs::board
