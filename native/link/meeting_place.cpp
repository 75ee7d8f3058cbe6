#include "link/meeting_place.h"

#include "link/descriptor_message.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

namespace fpga_verbs::link {

namespace {

constexpr timeval patience{.tv_sec = 10, .tv_usec = 0};

Descriptor new_socket() { return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

// An abstract address: its path begins with 0 and ends with its length.
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

Descriptor MeetingPlace::connect() const {
  Descriptor made = new_socket();
  const Address address(path_);
  if (!made || ::connect(made.get(), address.get(), address.length) != 0 || !is_of_this_user(made.get()))
    return {};
  return made;
}

Descriptor MeetingPlace::listen() const {
  Descriptor made = new_socket();
  const Address address(path_);
  constexpr int most_waiting = 4;
  if (!made || bind(made.get(), address.get(), address.length) != 0 ||
      ::listen(made.get(), most_waiting) != 0)
    return {};
  return made;
}

Descriptor MeetingPlace::accept(int listening) {
  Descriptor made(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  return made && is_of_this_user(made.get()) ? std::move(made) : Descriptor();
}

bool MeetingPlace::send(int socket, const Greeting& greeting, const std::array<int, 3>& descriptors) {
  return send_message(socket, std::as_bytes(std::span(&greeting, 1)), descriptors);
}

bool MeetingPlace::send(int socket, const Greeting& greeting) {
  return send_message(socket, std::as_bytes(std::span(&greeting, 1)));
}

std::optional<Greeted> MeetingPlace::receive(int socket, bool& is_gone) {
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  Greeted greeted;
  const auto message = std::as_writable_bytes(std::span(&greeted.greeting, 1));
  const std::optional<size_t> length = receive_message(socket, message, greeted.descriptors);
  is_gone = length ? *length == 0 : errno == ECONNRESET;
  if (length != message.size() || greeted.greeting.magic != Greeting::expected_magic)
    return std::nullopt;
  return greeted;
}

} // namespace fpga_verbs::link
