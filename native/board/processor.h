#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fpga_verbs::board {

// Tells the processor that this is a loop that waits.
inline void relax_processor() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace fpga_verbs::board
