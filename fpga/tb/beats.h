#pragma once

#include "bench.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fpga_verbs::bench {

// Bytes of which none matters, or all do.
inline void fill(Random& random, std::span<uint8_t> bytes) {
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>(random.bits());
}

// A beat with these bytes from a lane on; the others, which no block may look at, are anything.
template <size_t beat_bytes>
std::array<uint8_t, beat_bytes> some_beat(Random& random, std::span<const uint8_t> bytes, uint32_t lane = 0) {
  std::array<uint8_t, beat_bytes> beat;
  fill(random, beat);
  std::ranges::copy(bytes, beat.begin() + lane);
  return beat;
}

// The mask of so many bytes of a beat, the first lowest.
inline uint64_t keep_of(uint32_t bytes) { return bytes >= 64 ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1; }

} // namespace fpga_verbs::bench
