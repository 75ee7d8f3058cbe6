#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fpga_verbs::served {

// A server's description of its board.
struct ServedFacts {
  enum class State : uint8_t {
    absent, // no board is served there
    serving,
    busy,  // the server accepts no connection: others that came before wait too
    silent // the server does not answer in time
  };

  State state = State::absent;
  // Of one that serves:
  unsigned functions = 0;
  unsigned first_function = 0; // that clients may open
  uint64_t open = 0;           // bit per function
};

// Queries all servers at once and returns their descriptions in the same order. Takes at most `timeout`,
// whatever the servers do.
std::vector<ServedFacts> look_at_served(std::span<const std::string> paths,
                                        std::chrono::milliseconds timeout);

} // namespace fpga_verbs::served
