#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fpga_verbs::board {

// Prefetches a cache line for writing, which invalidates other copies.
inline void prefetch_for_write(const void* memory) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(memory))); // __builtin_prefetch only reads
#else
  __builtin_prefetch(memory, 1);
#endif
}

// Hints to the processor that this is a spin loop.
inline void relax_processor() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace fpga_verbs::board
