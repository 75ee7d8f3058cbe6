#include "link/one_way_signal.h"

#include <array>
#include <cstdint>
#include <sys/socket.h>

namespace fpga_verbs::link {

std::optional<OneWaySignal> OneWaySignal::make(Descriptor& far_end) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return std::nullopt;
  OneWaySignal made{Descriptor(ends[0])};
  far_end = Descriptor(ends[1]);
  // Bytes from the other end would stay here forever.
  if (shutdown(ends[0], SHUT_RD) != 0)
    return std::nullopt;
  return made;
}

void OneWaySignal::raise() const {
  constexpr uint64_t one = 1;
  send(socket_.get(), &one, sizeof one, MSG_DONTWAIT | MSG_NOSIGNAL);
}

} // namespace fpga_verbs::link
