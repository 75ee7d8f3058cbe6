#pragma once

#if defined(__x86_64__)

#include "wire/icrc_polynomial.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

// Folding by carry-less multiplication: V. Gopal and others, "Fast CRC computation for generic polynomials
// using PCLMULQDQ instruction", Intel, 2009. A 16 B block is advanced over a distance by multiplying its
// halves by powers of x, and added to the block there. Barrett's reduction turns the last block into the
// register.
//
// Each function names the instructions that it needs, so that one file holds code for several CPUs while the
// rest of the program is built for every CPU.
#define FPGA_VERBS_CARRYLESS gnu::target("sse4.1,pclmul")
#define FPGA_VERBS_CARRYLESS_AVX gnu::target("sse4.1,pclmul,avx")

namespace fpga_verbs::wire::fold {

// The factors that advance the halves of a block by `bits` bits.
template <Polynomial polynomial, unsigned bits> struct Distance {
  static constexpr uint64_t low = polynomial.power(bits + 32);
  static constexpr uint64_t high = polynomial.power(bits - 32);
};

template <Polynomial polynomial, unsigned bits>
[[gnu::always_inline, FPGA_VERBS_CARRYLESS]] inline __m128i move(__m128i block) {
  using By = Distance<polynomial, bits>;
  const __m128i factors = _mm_set_epi64x(static_cast<int64_t>(By::high), static_cast<int64_t>(By::low));
  return _mm_xor_si128(_mm_clmulepi64_si128(block, factors, 0x00),
                       _mm_clmulepi64_si128(block, factors, 0x11));
}

[[gnu::always_inline, FPGA_VERBS_CARRYLESS]] inline __m128i load(const uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

struct Bytes {
  const uint8_t* first;
  size_t size;
};

// Loading 16 B at `bytes` shifts a block up until its low `bytes` bytes are at the top; at 16 + `bytes`, down
// by that many. Zeros are shifted in.
inline constexpr std::array<uint8_t, 48> shifts = [] {
  std::array<uint8_t, 48> indices{};
  for (unsigned index = 0; index < indices.size(); ++index)
    indices[index] = index >= 16 && index < 32 ? static_cast<uint8_t>(index - 16) : 0x80;
  return indices;
}();

// The beginning of at least 16 B: what is more than a multiple of 16 B becomes a block with zeros before it,
// which change nothing; the register is added to the first 4 B of all, which may reach over that block's end.
struct Head {
  __m128i block; // of the bytes before the first whole block
  __m128i rest;  // to be added to the first whole block
  size_t bytes;
};

[[gnu::always_inline, FPGA_VERBS_CARRYLESS]] inline Head head_of(uint32_t crc, const Bytes& bytes) {
  const size_t odd = bytes.size & 15;
  const __m128i reg = _mm_cvtsi32_si128(static_cast<int>(crc));
  const __m128i first = _mm_xor_si128(load(bytes.first), reg);
  return {_mm_shuffle_epi8(first, load(shifts.data() + odd)),
          _mm_shuffle_epi8(reg, load(shifts.data() + 16 + odd)), odd};
}

// The register of one block.
template <Polynomial polynomial>
[[gnu::always_inline, FPGA_VERBS_CARRYLESS]] inline uint32_t reduce(__m128i block) {
  const __m128i low_words = _mm_set_epi32(0, -1, 0, -1);
  const __m128i to_64 =
      _mm_set_epi64x(static_cast<int64_t>(polynomial.power(64)), static_cast<int64_t>(polynomial.power(96)));
  const __m128i division =
      _mm_set_epi64x(static_cast<int64_t>(polynomial.barrett()), static_cast<int64_t>(polynomial.whole()));
  // 128 bits to 96, to 64, to 32.
  block = _mm_xor_si128(_mm_srli_si128(block, 8), _mm_clmulepi64_si128(block, to_64, 0x00));
  block = _mm_xor_si128(_mm_srli_si128(block, 4),
                        _mm_clmulepi64_si128(_mm_and_si128(block, low_words), to_64, 0x10));
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(block, low_words), division, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_words), division, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(block, quotient), 1));
}

// Folds the whole blocks from `at` on, one by one, and reduces.
template <Polynomial polynomial>
[[gnu::always_inline, FPGA_VERBS_CARRYLESS]] inline uint32_t finish(__m128i block, const Bytes& bytes,
                                                                    size_t at) {
  for (; at < bytes.size; at += 16)
    block = _mm_xor_si128(move<polynomial, 128>(block), load(bytes.first + at));
  return reduce<polynomial>(block);
}

} // namespace fpga_verbs::wire::fold

#endif
