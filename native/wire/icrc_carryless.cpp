#include "wire/icrc_fold.h"
#include "wire/icrc_implementations.h"

#if defined(__x86_64__)

namespace fpga_verbs::wire {
namespace {

// The register after at least 16 B.
template <Polynomial polynomial>
[[gnu::always_inline, FPGA_VERBS_CARRYLESS]] inline uint32_t fold_all(uint32_t crc,
                                                                      const fold::Bytes& bytes) {
  const fold::Head head = fold::head_of(crc, bytes);
  size_t at = head.bytes;
  __m128i block = _mm_xor_si128(fold::move<polynomial, 128>(head.block),
                                _mm_xor_si128(fold::load(bytes.first + at), head.rest));
  at += 16;
  if (bytes.size - at >= 48) {
    // Four blocks side by side, so that multiplications overlap.
    __m128i second = fold::load(bytes.first + at);
    __m128i third = fold::load(bytes.first + at + 16);
    __m128i fourth = fold::load(bytes.first + at + 32);
    for (at += 48; bytes.size - at >= 64; at += 64) {
      block = _mm_xor_si128(fold::move<polynomial, 512>(block), fold::load(bytes.first + at));
      second = _mm_xor_si128(fold::move<polynomial, 512>(second), fold::load(bytes.first + at + 16));
      third = _mm_xor_si128(fold::move<polynomial, 512>(third), fold::load(bytes.first + at + 32));
      fourth = _mm_xor_si128(fold::move<polynomial, 512>(fourth), fold::load(bytes.first + at + 48));
    }
    block =
        _mm_xor_si128(_mm_xor_si128(fold::move<polynomial, 384>(block), fold::move<polynomial, 256>(second)),
                      _mm_xor_si128(fold::move<polynomial, 128>(third), fourth));
  }
  return fold::finish<polynomial>(block, bytes, at);
}

template <Polynomial polynomial>
[[FPGA_VERBS_CARRYLESS]] uint32_t compute(uint32_t crc, const fold::Bytes& bytes) {
  return fold_all<polynomial>(crc, bytes);
}

// With instructions of three operands, which need no copies of registers.
template <Polynomial polynomial>
[[FPGA_VERBS_CARRYLESS_AVX]] uint32_t compute_avx(uint32_t crc, const fold::Bytes& bytes) {
  return fold_all<polynomial>(crc, bytes);
}

} // namespace

uint32_t icrc_carryless(uint32_t crc, const uint8_t* data, size_t bytes) {
  return bytes < 16 ? icrc_slicing(crc, data, bytes) : compute<icrc_polynomial>(crc, {data, bytes});
}

uint32_t vcrc_carryless(uint32_t crc, const uint8_t* data, size_t bytes) {
  return bytes < 16 ? vcrc_slicing(crc, data, bytes) : compute<vcrc_polynomial>(crc, {data, bytes});
}

uint32_t icrc_carryless_avx(uint32_t crc, const uint8_t* data, size_t bytes) {
  return bytes < 16 ? icrc_slicing(crc, data, bytes) : compute_avx<icrc_polynomial>(crc, {data, bytes});
}

uint32_t vcrc_carryless_avx(uint32_t crc, const uint8_t* data, size_t bytes) {
  return bytes < 16 ? vcrc_slicing(crc, data, bytes) : compute_avx<vcrc_polynomial>(crc, {data, bytes});
}

} // namespace fpga_verbs::wire

#endif
