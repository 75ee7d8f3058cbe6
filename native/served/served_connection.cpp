#include "served/served_connection.h"

#include "link/descriptor_message.h"
#include "served/socket_path.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <span>
#include <sys/socket.h>

namespace fpga_verbs::served {

namespace {

constexpr std::chrono::milliseconds patience{5000};

// Whether there is something to read in time. A signal to this process ends no wait.
bool has_come(int socket) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd polled{socket, POLLIN, 0};
    const int found = poll(&polled, 1, static_cast<int>(std::max<int64_t>(left, 0)));
    if (found >= 0 || errno != EINTR)
      return found == 1;
  }
}

} // namespace

std::optional<ServedConnection> ServedConnection::make(const std::string& path, std::string& failure) {
  link::Descriptor socket = SocketPath::connect(path, failure);
  if (!socket)
    return std::nullopt;
  return ServedConnection(std::move(socket));
}

std::optional<Reply> ServedConnection::ask(const Request& request, link::Descriptor& descriptor) {
  Reply reply;
  const auto message = std::as_writable_bytes(std::span(&reply, 1));
  if (!link::send_message(socket_.get(), std::as_bytes(std::span(&request, 1))) || !has_come(socket_.get()))
    return std::nullopt;
  const std::optional<link::ReceivedMessage> received =
      link::receive_message(socket_.get(), message, std::span(&descriptor, 1), MSG_DONTWAIT);
  if (!received || !received->whole || received->bytes != message.size() || reply.magic != protocol_magic)
    return std::nullopt;
  return reply;
}

std::optional<Reply> ServedConnection::ask(const Request& request) {
  link::Descriptor none;
  return ask(request, none);
}

bool ServedConnection::wake() {
  const Request request{.kind = RequestKind::wake};
  return link::send_message(socket_.get(), std::as_bytes(std::span(&request, 1)));
}

bool ServedConnection::is_gone() const {
  pollfd polled{socket_.get(), POLLRDHUP, 0};
  return poll(&polled, 1, 0) > 0;
}

} // namespace fpga_verbs::served
