#pragma once

#include <cstdint>

namespace fpga_verbs::wire {

// A CRC polynomial of degree 32 whose bits are taken low bit first, as both checks of a packet are. A
// polynomial of degree 16 is one of degree 32 when it is multiplied by x^16: its register then lies in the
// low 16 bits, and one way of computing serves both.
struct Polynomial {
  uint32_t reflected; // coefficient of x^31 in bit 0; that of x^32 is one

  // x^exponent modulo the polynomial, as a factor of a carry-less multiplication: reflected, and shifted
  // since the product of two reflected 64-bit numbers has 127 bits.
  constexpr uint64_t power(unsigned exponent) const {
    uint32_t remainder = 0x80000000u; // 1, reflected
    for (unsigned step = 0; step < exponent; ++step)
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? reflected : 0);
    return static_cast<uint64_t>(remainder) << 1;
  }

  // All 33 coefficients, reflected.
  constexpr uint64_t whole() const { return (static_cast<uint64_t>(reflected) << 1) | 1; }

  // The quotient of x^64 and the polynomial, reflected: the factor of Barrett's reduction.
  constexpr uint64_t barrett() const {
    uint64_t quotient = 0;
    uint64_t remainder = 1; // bits of x^64 taken in so far, reflected: x^32 is bit 0
    for (unsigned bit = 0; bit <= 32; ++bit) {
      const bool subtract = (remainder & 1) != 0;
      quotient |= static_cast<uint64_t>(subtract) << bit;
      if (subtract)
        remainder ^= whole();
      remainder >>= 1;
    }
    return quotient;
  }
};

// x^32 + x^26 + x^23 + x^22 + x^16 + x^12 + x^11 + x^10 + x^8 + x^7 + x^5 + x^4 + x^2 + x + 1
inline constexpr Polynomial icrc_polynomial{0xedb88320u};
// (x^16 + x^12 + x^3 + x + 1) x^16
inline constexpr Polynomial vcrc_polynomial{0x0000d008u};

} // namespace fpga_verbs::wire
