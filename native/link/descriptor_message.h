#pragma once

#include "link/descriptor.h"

#include <cstddef>
#include <optional>
#include <span>

namespace fpga_verbs::link {

inline constexpr size_t most_descriptors = 3; // of a message

// Whether the process at the other end of a Unix socket is of this user.
bool is_of_this_user(int socket);

// Sends a message and descriptors with it. False: the other end is gone, or takes no more; never waits.
bool send_message(int socket, std::span<const std::byte> message, std::span<const int> descriptors = {});

struct ReceivedMessage {
  size_t bytes = 0;   // that were sent; 0: the other end is gone
  bool whole = false; // false: it had more bytes, or more descriptors, than there was room for
};

// Receives a message of a socket that keeps messages apart. Descriptors that came with it lie in
// `descriptors` in order, at most most_descriptors; those beyond never come to this process. Nothing: no
// message came. Waits as long as the socket says; with `flags` MSG_DONTWAIT not at all.
std::optional<ReceivedMessage> receive_message(int socket, std::span<std::byte> message,
                                               std::span<Descriptor> descriptors, int flags = 0);

} // namespace fpga_verbs::link
