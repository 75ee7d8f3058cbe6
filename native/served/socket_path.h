#pragma once

#include "link/descriptor.h"

#include <string>

namespace fpga_verbs::served {

// The socket of a server in the file system, for this user alone.
class SocketPath {
public:
  // Nothing is listening: `failure` says why; a socket that a killed server left is taken over.
  static link::Descriptor listen(const std::string& path, std::string& failure);
  // None: it is not of this user.
  static link::Descriptor accept(int listening);
  // Nothing: `failure` says why.
  static link::Descriptor connect(const std::string& path, std::string& failure);
};

} // namespace fpga_verbs::served
