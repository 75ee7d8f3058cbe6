#include "link/descriptor_message.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace fpga_verbs::link {

namespace {

using Control = std::array<std::byte, CMSG_SPACE(most_descriptors * sizeof(int))>;

} // namespace

bool is_of_this_user(int socket) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == getuid();
}

bool send_message(int socket, std::span<const std::byte> message, std::span<const int> descriptors) {
  iovec part{.iov_base = const_cast<std::byte*>(message.data()), .iov_len = message.size()};
  alignas(cmsghdr) Control control{};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(message.size());
}

std::optional<size_t> receive_message(int socket, std::span<std::byte> message,
                                      std::span<Descriptor> descriptors, int flags) {
  iovec part{.iov_base = message.data(), .iov_len = message.size()};
  alignas(cmsghdr) Control control{};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t length = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | flags);
  if (length < 0)
    return std::nullopt;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
    std::array<int, most_descriptors> numbers{};
    const size_t bytes = std::min(rights->cmsg_len - CMSG_LEN(0), sizeof numbers);
    std::memcpy(numbers.data(), CMSG_DATA(rights), bytes);
    for (size_t i = 0; i < bytes / sizeof(int); ++i) {
      Descriptor received(numbers[i]);
      if (i < descriptors.size())
        descriptors[i] = std::move(received);
    }
  }
  return static_cast<size_t>(length);
}

} // namespace fpga_verbs::link
