#pragma once

#include "link/descriptor.h"

#include <cstdint>
#include <string>

namespace fpga_verbs::served {

// Result of an attempt to connect. Busy: a server is there, and has not accepted earlier connections.
enum class Reached : uint8_t { reached, absent, busy, failed };

// The socket of a server in the file system, for this user alone.
class SocketPath {
public:
  // Nothing is listening: `failure` says why; a socket that a killed server left is taken over.
  static link::Descriptor listen(const std::string& path, std::string& failure);
  // None: it is not of this user.
  static link::Descriptor accept(int listening);
  // Does not wait; nor does the socket that it gives. Other than reached: `failure` says why.
  static Reached connect(const std::string& path, link::Descriptor& socket, std::string& failure);
};

} // namespace fpga_verbs::served
