#include "link/meeting_place.h"

#include "link/descriptor_message.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <sys/socket.h>
#include <sys/un.h>

namespace fpga_verbs::link {

namespace {

Descriptor new_socket() {
  return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// An abstract address: its path starts with 0 and ends with its length.
struct Address {
  explicit Address(const std::string& path) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, path.data(), path.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address = {};
  socklen_t length = 0;
};

} // namespace

MeetingPlace::MeetingPlace(const std::string& name) {
  constexpr size_t most = sizeof(sockaddr_un::sun_path) - 1;
  path_ = ("fpga-verbs/" + std::to_string(getuid()) + "/" + name).substr(0, most);
}

Descriptor MeetingPlace::connect(bool& is_crowded) const {
  Descriptor made = new_socket();
  const Address address(path_);
  is_crowded = false;
  if (!made)
    return {};
  if (::connect(made.get(), address.get(), address.length) != 0) {
    is_crowded = errno == EAGAIN;
    return {};
  }
  return is_of_this_user(made.get()) ? std::move(made) : Descriptor();
}

Descriptor MeetingPlace::listen() const {
  Descriptor made = new_socket();
  const Address address(path_);
  constexpr int most_waiting = 16;
  if (!made || bind(made.get(), address.get(), address.length) != 0 ||
      ::listen(made.get(), most_waiting) != 0)
    return {};
  return made;
}

Descriptor MeetingPlace::accept(int listening) {
  Descriptor made(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  return made && is_of_this_user(made.get()) ? std::move(made) : Descriptor();
}

bool MeetingPlace::send(int socket, const Greeting& greeting, int memory) {
  const std::span descriptors(&memory, memory < 0 ? 0 : 1);
  return send_message(socket, std::as_bytes(std::span(&greeting, 1)), descriptors);
}

Received MeetingPlace::receive(int socket, Greeted& greeted) {
  const auto message = std::as_writable_bytes(std::span(&greeted.greeting, 1));
  const std::optional<ReceivedMessage> received =
      receive_message(socket, message, std::span(&greeted.memory, 1), MSG_DONTWAIT);
  if (!received)
    return errno == EAGAIN ? Received::nothing : Received::gone;
  if (received->bytes == 0)
    return Received::gone;
  const bool is_greeting = received->whole && received->bytes == message.size() &&
                           greeted.greeting.magic == Greeting::expected_magic;
  return is_greeting ? Received::greeting : Received::malformed;
}

} // namespace fpga_verbs::link
