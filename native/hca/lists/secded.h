#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

// Single error correction, double error detection over words of 64 data bits and 8 check bits: the
// odd-weight-column code of M. Y. Hsiao (IBM Journal of Research and Development, 1970). The column of a data
// bit names the check bits that cover it:
//   data bits 0 to 55: the 56 bytes with three set bits, in ascending order;
//   data bits 56 to 63: 0x1f rotated left by 0 to 7;
//   check bit r: only bit r.
// Each check bit so covers 26 data bits. A syndrome (the check bits computed from the data xor those stored)
// equal to a column names one wrong bit; two wrong bits always give an even number of ones, which no column
// has.
inline constexpr unsigned secded_data_bits = 64;
inline constexpr unsigned secded_check_bits = 8;
inline constexpr unsigned secded_bits = secded_data_bits + secded_check_bits;

// Ordered from good to bad.
enum class SecdedStatus : uint8_t { clean, corrected, uncorrectable };

struct SecdedWord {
  SecdedStatus status;
  uint64_t data; // as corrected; as it was read if uncorrectable
};

// The check bits of 64 data bits.
uint8_t secded_encode(uint64_t data);

// The word stored as `data` and `check`, with a single-bit error corrected.
SecdedWord secded_decode(uint64_t data, uint8_t check);

} // namespace fpga_verbs::hca
