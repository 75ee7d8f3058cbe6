#pragma once

#include <cstdint>
#include <cstring>

// The doorbell checksum: the 32-bit ones' complement sum over the DWORDs of a command's used segments and the
// queue pair's secret is all ones when nothing was lost or changed (US8589610, doorbell checksum state).
namespace fpga_verbs::hca {

// Sum of the DWORDs of `bytes` bytes, a multiple of 8. Carries gather in the upper half: a command cannot
// overflow it.
inline uint64_t dword_sum(const uint8_t* data, uint32_t bytes) {
  uint64_t sum = 0;
  for (uint32_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data + at, sizeof(word));
    sum += (word & 0xffffffffu) + (word >> 32);
  }
  return sum;
}

// Copies `bytes` bytes, a multiple of 8, and returns the sum of their DWORDs.
inline uint64_t copy_and_sum(uint8_t* target, const uint8_t* source, uint32_t bytes) {
  uint64_t sum = 0;
  for (uint32_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, source + at, sizeof(word));
    std::memcpy(target + at, &word, sizeof(word));
    sum += (word & 0xffffffffu) + (word >> 32);
  }
  return sum;
}

// Whether a running sum over command and secret, its carries folded back in, is all ones.
constexpr bool checksum_matches(uint64_t sum) {
  sum = (sum & 0xffffffffu) + (sum >> 32);
  return (sum & 0xffffffffu) + (sum >> 32) == 0xffffffffu;
}

} // namespace fpga_verbs::hca
