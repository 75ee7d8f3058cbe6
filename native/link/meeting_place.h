#pragma once

#include "link/descriptor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace fpga_verbs::link {

// What the ends of a link tell each other when they meet.
struct Greeting {
  static constexpr uint64_t expected_magic = 0x316b'6e69'6c2d'7666; // "fv-link1"

  uint64_t magic = expected_magic;
  uint32_t taken = 0; // the link has two ends already
  uint32_t board_number = 0;
};

// A greeting and what came with it.
struct Greeted {
  Greeting greeting;
  std::array<Descriptor, 3> descriptors; // fewer came: those left are none
};

// A name under which processes of one user find each other: an abstract Unix socket, which is gone with the
// process that listens.
class MeetingPlace {
public:
  explicit MeetingPlace(const std::string& name);

  // To whoever listens. None: nobody does.
  Descriptor connect() const;
  // None: somebody listens already.
  Descriptor listen() const;
  // None: it is not of this user.
  static Descriptor accept(int listening);

  static bool send(int socket, const Greeting& greeting, const std::array<int, 3>& descriptors);
  static bool send(int socket, const Greeting& greeting);
  // Waits for a moment. Nothing: the other end has gone (`is_gone`), or none came, or it is none of ours.
  static std::optional<Greeted> receive(int socket, bool& is_gone);

private:
  std::string path_;
};

} // namespace fpga_verbs::link
