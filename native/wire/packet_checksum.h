#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// The checksum of IPv4 and UDP: the inverse of the ones' complement sum of all 16-bit words (RFC 1071).
namespace fpga_verbs::wire {

// The sum of the words of `bytes` bytes, not folded. An odd last byte counts as the upper half of a word.
inline uint64_t internet_sum(const uint8_t* data, size_t bytes) {
  uint64_t sum = 0;
  size_t at = 0;
  for (; at + 1 < bytes; at += 2)
    sum += (static_cast<uint32_t>(data[at]) << 8) | data[at + 1];
  if (at < bytes)
    sum += static_cast<uint32_t>(data[at]) << 8;
  return sum;
}

// Whether the words of a header of `bytes` bytes, a multiple of 4, with its checksum add up to ones, as they
// do in any order of bytes.
inline bool sums_to_ones(const uint8_t* data, size_t bytes) {
  uint64_t sum = 0;
  for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
    uint32_t words = 0;
    std::memcpy(&words, data + at, sizeof words);
    sum += words;
  }
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff;
}

// A sum with its carries added in: 16 bits.
constexpr uint32_t folded(uint64_t sum) {
  while (sum > 0xffff)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint32_t>(sum);
}

} // namespace fpga_verbs::wire
