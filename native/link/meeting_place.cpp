#include "link/meeting_place.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

namespace fpga_verbs::link {

namespace {

constexpr timeval patience{.tv_sec = 2, .tv_usec = 0};

bool is_ours(int socket) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == getuid();
}

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
  if (!made || ::connect(made.get(), address.get(), address.length) != 0 || !is_ours(made.get()))
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
  return made && is_ours(made.get()) ? std::move(made) : Descriptor();
}

bool MeetingPlace::send(int socket, const Greeting& greeting, const std::array<int, 3>& descriptors) {
  Greeting sent = greeting;
  iovec part{.iov_base = &sent, .iov_len = sizeof sent};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof descriptors)> control{};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof sent;
}

bool MeetingPlace::send(int socket, const Greeting& greeting) {
  return ::send(socket, &greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting;
}

std::optional<Greeted> MeetingPlace::receive(int socket) {
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  Greeted greeted;
  std::array<int, 3> descriptors{};
  iovec part{.iov_base = &greeted.greeting, .iov_len = sizeof greeted.greeting};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof descriptors)> control{};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = length < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    const size_t bytes = std::min(header->cmsg_len - CMSG_LEN(0), sizeof descriptors);
    std::memcpy(descriptors.data(), CMSG_DATA(header), bytes);
    for (size_t i = 0; i < bytes / sizeof(int); ++i)
      greeted.descriptors[i] = Descriptor(descriptors[i]);
  }
  if (length != sizeof greeted.greeting || greeted.greeting.magic != Greeting::expected_magic)
    return std::nullopt;
  return greeted;
}

} // namespace fpga_verbs::link
