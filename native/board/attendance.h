#pragma once

#include <cstdint>

namespace fpga_verbs::board {

// How soon a device without its own thread processes an arrival: now on this thread, by waking its thread, or
// later.
enum class Attendance : uint8_t {
  drive, // the calling thread drives it now
  wake,  // its thread is woken
  leave, // the calling thread comes back to it; where it does not, the device's thread takes over in a while
};

} // namespace fpga_verbs::board
