#pragma once

#include "link/descriptor.h"

#include <optional>

namespace fpga_verbs::link {

// Signals to another process, which cannot hold up this one, whatever it does with its descriptor: this end
// of a socket pair is private and sends without waiting. (The flags of an eventfd are shared by all its
// holders, and a reader of a pipe holds its lock while it copies to its own memory.)
class OneWaySignal {
public:
  // `far_end`: for the other process. It reads signals as counts of 8 B, as from an eventfd; closing this end
  // makes nothing readable. None: no descriptor is left; errno has the reason.
  static std::optional<OneWaySignal> make(Descriptor& far_end);

  // Never waits. A signal is lost if unread ones fill the socket, as with an interrupt that is already
  // pending.
  void raise() const;

private:
  explicit OneWaySignal(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
};

} // namespace fpga_verbs::link
