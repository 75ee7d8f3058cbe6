#pragma once

#include "link/descriptor.h"

#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::link {

// Places on a fabric of one machine, by number: each is an abstract Unix socket, so that it belongs to one
// process, is free when that has ended, however it ended, and is seen in its own network namespace alone.
class HostNames {
public:
  // `fabric`: what tells fabrics of this user apart.
  explicit HostNames(const std::string& fabric);

  // Takes a place and listens there. None: another process has it.
  Descriptor take(unsigned number) const;
  // To the process that has it. None: none has, it is another user's, or too many stand before it.
  Descriptor connect(unsigned number) const;
  // The places that are taken now.
  std::vector<unsigned> taken() const;

private:
  std::string path_of(unsigned number) const { return prefix_ + std::to_string(number); }

  std::string prefix_;
};

} // namespace fpga_verbs::link
