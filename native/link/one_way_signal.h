#pragma once

#include "link/descriptor.h"

#include <optional>

namespace fpga_verbs::link {

// Signals to another process, which can hold up nothing here, whatever it does with the descriptor that it
// was given: this end of a pair of sockets is its own, and sends without waiting. (The flags of an eventfd
// are those of all who have it, and a reader of a pipe keeps its lock while it copies to where it likes.)
class OneWaySignal {
public:
  // `far_end`: to be given away. Signals are read there as counts of 8 B, as from an eventfd; nothing becomes
  // readable when this end goes. None: no descriptor is left; errno says so.
  static std::optional<OneWaySignal> make(Descriptor& far_end);

  // Never waits. Lost where some lie there that were not taken: as an interrupt that is pending already.
  void raise() const;

private:
  explicit OneWaySignal(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
};

} // namespace fpga_verbs::link
