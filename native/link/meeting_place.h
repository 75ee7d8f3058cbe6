#pragma once

#include "link/descriptor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace fpga_verbs::link {

// The first messages of two ends of a link: from the end that connects, then from the end that listens and
// provides the memory.
struct Greeting {
  static constexpr uint64_t expected_magic = 0x326b'6e69'6c2d'7666; // "fv-link2"
  static constexpr uint32_t any_number = ~uint32_t{0};

  uint64_t magic = expected_magic;
  uint32_t taken = 0;        // the link has two ends already
  uint32_t board_number = 0; // of the end that listens; wanted by the one that comes, or any_number
};

// A received greeting with its memory; none: not received.
struct Greeted {
  Greeting greeting;
  Descriptor memory;
};

enum class Received : uint8_t {
  greeting,
  nothing,   // yet
  gone,      // the other end has closed
  malformed, // it is no end of a link of this version
};

// A name under which processes of one user find each other: an abstract Unix socket, which disappears with
// the listening process. No call waits.
class MeetingPlace {
public:
  explicit MeetingPlace(const std::string& name);

  // Connects to the listening process. None: no process listens, or it has too many pending connections
  // (`is_crowded`).
  Descriptor connect(bool& is_crowded) const;
  // Listens. None: another process already listens.
  Descriptor listen() const;
  // Accepts a connection. None: the process belongs to another user or has gone.
  static Descriptor accept(int listening);

  // `memory`: a descriptor, or -1.
  static bool send(int socket, const Greeting& greeting, int memory = -1);
  static Received receive(int socket, Greeted& greeted);

private:
  std::string path_;
};

} // namespace fpga_verbs::link
