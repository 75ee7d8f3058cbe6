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

std::optional<ReceivedMessage> receive_message(int socket, std::span<std::byte> message,
                                               std::span<Descriptor> descriptors, int flags) {
  iovec part{.iov_base = message.data(), .iov_len = message.size()};
  alignas(cmsghdr) Control control{};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  // The kernel installs as many as fit: CMSG_SPACE, which rounds up, would admit one more.
  const size_t most = std::min(descriptors.size(), most_descriptors);
  if (most != 0) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_LEN(most * sizeof(int));
  }
  // MSG_TRUNC: returns the length of the message, not of the part that fitted.
  const ssize_t length = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_TRUNC | flags);
  if (length < 0)
    return std::nullopt;
  size_t received = 0;
  for (const cmsghdr* part_of = CMSG_FIRSTHDR(&header); part_of != nullptr;
       part_of = CMSG_NXTHDR(&header, const_cast<cmsghdr*>(part_of))) {
    if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_RIGHTS)
      continue;
    const size_t count = (part_of->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part_of) + i * sizeof number, sizeof number);
      Descriptor one(number);
      if (received < most)
        descriptors[received++] = std::move(one);
    }
  }
  return ReceivedMessage{static_cast<size_t>(length), (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0};
}

} // namespace fpga_verbs::link
