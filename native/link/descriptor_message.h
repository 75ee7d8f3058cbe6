#pragma once

#include "link/descriptor.h"

#include <cstddef>
#include <optional>
#include <span>

namespace fpga_verbs::link {

inline constexpr size_t most_descriptors = 3; // of a message

// Whether the process at the other end of a Unix socket belongs to this user.
bool is_of_this_user(int socket);

// Sends a message with descriptors. False: the other end is gone or its buffer is full. Never waits.
bool send_message(int socket, std::span<const std::byte> message, std::span<const int> descriptors = {});

struct ReceivedMessage {
  size_t bytes = 0;   // that were sent; 0: the other end is gone
  bool whole = false; // false: it had more bytes, or more descriptors, than there was room for
};

// Receives a message from a socket that preserves message boundaries. Puts its descriptors into `descriptors`
// in order, at most most_descriptors; the kernel discards further ones. Nothing: no message. Waits according
// to the socket; with `flags` MSG_DONTWAIT it never waits.
std::optional<ReceivedMessage> receive_message(int socket, std::span<std::byte> message,
                                               std::span<Descriptor> descriptors, int flags = 0);

} // namespace fpga_verbs::link
