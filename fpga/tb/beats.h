#pragma once

#include "bench.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fpga_verbs::bench {

// Random bytes, sometimes all zeros or all ones.
inline void fill(Random& random, std::span<uint8_t> bytes) {
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>(random.bits());
}

// A beat with these bytes from a lane on. All others are random, because no block may use them.
template <size_t beat_bytes>
std::array<uint8_t, beat_bytes> some_beat(Random& random, std::span<const uint8_t> bytes, uint32_t lane = 0) {
  std::array<uint8_t, beat_bytes> beat;
  fill(random, beat);
  std::ranges::copy(bytes, beat.begin() + lane);
  return beat;
}

// The mask of the lowest `bytes` bytes of a beat.
inline uint64_t keep_of(uint32_t bytes) { return bytes >= 64 ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1; }

} // namespace fpga_verbs::bench
