#pragma once

#include "bench.h"

#include <cstdint>
#include <span>

namespace fpga_verbs::bench {

// Bytes of which none matters, or all do.
inline void fill(Random& random, std::span<uint8_t> bytes) {
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>(random.bits());
}

// The mask of so many bytes of a beat, the first lowest.
inline uint64_t keep_of(uint32_t bytes) { return bytes >= 64 ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1; }

} // namespace fpga_verbs::bench
