#include "served/served_connection.h"

#include "link/descriptor_message.h"
#include "served/socket_path.h"

#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <sys/time.h>

namespace fpga_verbs::served {

namespace {

constexpr timeval patience{.tv_sec = 5, .tv_usec = 0};

} // namespace

std::optional<ServedConnection> ServedConnection::make(const std::string& path, std::string& failure) {
  link::Descriptor socket = SocketPath::connect(path, failure);
  if (!socket)
    return std::nullopt;
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return ServedConnection(std::move(socket));
}

std::optional<Reply> ServedConnection::ask(const Request& request, link::Descriptor& descriptor) {
  Reply reply;
  const auto message = std::as_writable_bytes(std::span(&reply, 1));
  if (!link::send_message(socket_.get(), std::as_bytes(std::span(&request, 1))) ||
      link::receive_message(socket_.get(), message, std::span(&descriptor, 1)) != message.size() ||
      reply.magic != protocol_magic)
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
