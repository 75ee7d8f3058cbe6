#include "served/served_connection.h"

#include "link/descriptor_message.h"
#include "served/socket_path.h"

#include <poll.h>
#include <span>
#include <sys/socket.h>

namespace fpga_verbs::served {

namespace {

constexpr int patience = 5000; // milliseconds

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
  pollfd polled{socket_.get(), POLLIN, 0};
  if (!link::send_message(socket_.get(), std::as_bytes(std::span(&request, 1))) ||
      poll(&polled, 1, patience) != 1 ||
      link::receive_message(socket_.get(), message, std::span(&descriptor, 1), MSG_DONTWAIT) !=
          message.size() ||
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
