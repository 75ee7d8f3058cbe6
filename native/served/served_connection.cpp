#include "served/served_connection.h"

#include "link/descriptor_message.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <thread>

namespace fpga_verbs::served {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds timeout{5000};

// Waits until there is data to read, or the end of the socket. False: timeout. Signals do not shorten the
// wait.
bool wait_for(int socket) {
  const Clock::time_point given_up = Clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(given_up - Clock::now());
    pollfd polled{socket, POLLIN, 0};
    if (left.count() <= 0)
      return false;
    if (poll(&polled, 1, static_cast<int>(left.count())) > 0)
      return true;
  }
}

} // namespace

std::optional<ServedConnection> ServedConnection::make(const std::string& path, std::string& failure) {
  constexpr std::chrono::milliseconds between_attempts{1}; // nothing tells of room
  const Clock::time_point given_up = Clock::now() + timeout;
  std::optional<ServedConnection> made;
  while (make(path, made, failure) == Reached::busy && Clock::now() < given_up)
    std::this_thread::sleep_for(between_attempts);
  return made;
}

Reached ServedConnection::make(const std::string& path, std::optional<ServedConnection>& connection,
                               std::string& failure) {
  link::Descriptor socket;
  const Reached reached = SocketPath::connect(path, socket, failure);
  if (reached == Reached::reached)
    connection = ServedConnection(std::move(socket));
  return reached;
}

std::optional<Reply> ServedConnection::ask(const Request& request, link::Descriptor& descriptor) {
  if (!say(request) || !wait_for(socket_.get()))
    return std::nullopt;
  return take_reply(descriptor);
}

bool ServedConnection::say(const Request& request) {
  return link::send_message(socket_.get(), std::as_bytes(std::span(&request, 1)));
}

std::optional<Reply> ServedConnection::take_reply(link::Descriptor& descriptor) {
  Reply reply;
  const auto message = std::as_writable_bytes(std::span(&reply, 1));
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

std::optional<Reply> ServedConnection::ask(const Request& request, std::vector<std::byte>& list) {
  if (!say(request) || !wait_for(socket_.get()))
    return std::nullopt;
  std::vector<std::byte> message(sizeof(Reply) + longest_list);
  const std::optional<link::ReceivedMessage> received =
      link::receive_message(socket_.get(), message, {}, MSG_DONTWAIT);
  Reply reply;
  if (!received || !received->whole || received->bytes < sizeof reply)
    return std::nullopt;
  std::memcpy(&reply, message.data(), sizeof reply);
  if (reply.magic != protocol_magic)
    return std::nullopt;
  list.assign(message.begin() + sizeof reply, message.begin() + static_cast<ptrdiff_t>(received->bytes));
  return reply;
}

bool ServedConnection::wake() { return say({.kind = RequestKind::wake}); }

bool ServedConnection::is_gone() const {
  pollfd polled{socket_.get(), POLLRDHUP, 0};
  return poll(&polled, 1, 0) > 0;
}

} // namespace fpga_verbs::served
