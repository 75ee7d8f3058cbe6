#pragma once

#include "link/descriptor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace fpga_verbs::link {

// A greeting of the ends of a link when they meet: the one that comes first, then the one that
// listens, which brings the memory.
struct Greeting {
  static constexpr uint64_t expected_magic = 0x326b'6e69'6c2d'7666; // "fv-link2"
  static constexpr uint32_t any_number = ~uint32_t{0};

  uint64_t magic = expected_magic;
  uint32_t taken = 0;        // the link has two ends already
  uint32_t board_number = 0; // of the end that listens; wanted by the one that comes, or any_number
};

// A greeting and the memory that came with it; none: none did.
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

// A name under which processes of one user find each other: an abstract Unix socket, which is gone with the
// process that listens. None of this waits.
class MeetingPlace {
public:
  explicit MeetingPlace(const std::string& name);

  // To the process that listens. None: none does, or too many stand before it (`is_crowded`).
  Descriptor connect(bool& is_crowded) const;
  // None: another one listens already.
  Descriptor listen() const;
  // None: it is not of this user, or has gone.
  static Descriptor accept(int listening);

  // `memory`: a descriptor, or -1.
  static bool send(int socket, const Greeting& greeting, int memory = -1);
  static Received receive(int socket, Greeted& greeted);

private:
  std::string path_;
};

} // namespace fpga_verbs::link
