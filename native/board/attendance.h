#pragma once

#include <cstdint>

namespace fpga_verbs::board {

// How soon a device that is not driven by a thread of its own gets to what has arrived.
enum class Attendance : uint8_t {
  drive, // the calling thread drives it now
  wake,  // its thread is woken
  leave, // the calling thread comes back to it; where it does not, the device's thread takes over in a while
};

} // namespace fpga_verbs::board
