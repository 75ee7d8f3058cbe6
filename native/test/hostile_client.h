#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace fpga_verbs::test {

struct HostileWay {
  std::string name;
  std::string path;      // of the server's socket
  uint32_t function = 0; // that it opens, if any
  uint64_t seed = 1;
};

// Runs it endlessly; calls `ready` once it has begun. Returns only if it cannot.
void be_hostile(const HostileWay& way, const std::function<void()>& ready);

} // namespace fpga_verbs::test
