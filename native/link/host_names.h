#pragma once

#include "link/descriptor.h"

#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::link {

// Places on a fabric of one machine, by number. Each is an abstract Unix socket: it belongs to one process,
// becomes free when that process ends for any reason, and is visible only in its network namespace.
class HostNames {
public:
  // `fabric`: distinguishes the fabrics of this user.
  explicit HostNames(const std::string& fabric);

  // Reserves a place and listens there. None: another process has it.
  Descriptor take(unsigned number) const;
  // Connects to the process at a place. None: the place is free, belongs to another user, or has too many
  // pending connections.
  Descriptor connect(unsigned number) const;
  // The places in use now.
  std::vector<unsigned> taken() const;

private:
  std::string path_of(unsigned number) const { return prefix_ + std::to_string(number); }

  std::string prefix_;
};

} // namespace fpga_verbs::link
