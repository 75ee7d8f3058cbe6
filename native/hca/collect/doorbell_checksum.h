#pragma once

#include <cstdint>
#include <cstring>

// The doorbell checksum: the 32-bit ones' complement sum over all DWORDs in the buffers of a complete command
// and over the queue pair's secret is all ones if nothing was lost or changed (US8589610, doorbell checksum
// state: a checksum of the contents of the payload buffer and the header buffer).
namespace fpga_verbs::hca {

// Sum of the DWORDs of `bytes` bytes, a multiple of 8. The upper half collects the carries; a command cannot
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

// Whether the sum of a command of `bytes` bytes, a multiple of 8, and of the secret, its carries folded back
// in, is all ones.
inline bool checksum_matches(const uint8_t* command, uint32_t bytes, uint32_t secret) {
  uint64_t sum = dword_sum(command, bytes) + secret;
  sum = (sum & 0xffffffffu) + (sum >> 32);
  return (sum & 0xffffffffu) + (sum >> 32) == 0xffffffffu;
}

} // namespace fpga_verbs::hca
