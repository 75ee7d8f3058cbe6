#include "wire/icrc_fold.h"
#include "wire/icrc_implementations.h"

#if defined(__x86_64__)

// Folds several blocks with one instruction. Below, a vector has as many blocks as a register; four vectors
// are folded in parallel, so that multiplications overlap.
#define FPGA_VERBS_WIDE_256 gnu::target("sse4.1,pclmul,avx2,vpclmulqdq")
#define FPGA_VERBS_WIDE_512 gnu::target("sse4.1,pclmul,avx2,vpclmulqdq,avx512f,avx512vl")

namespace fpga_verbs::wire {
namespace {

// Four vectors and a start; below this length single blocks are as fast.
constexpr size_t shortest_256 = 128 + 15;
constexpr size_t shortest_512 = 256 + 15;

template <Polynomial polynomial, unsigned bits>
[[gnu::always_inline, FPGA_VERBS_WIDE_256]] inline __m256i move_256(__m256i vector, __m256i onto) {
  using By = fold::Distance<polynomial, bits>;
  const __m256i factors = _mm256_set_epi64x(static_cast<int64_t>(By::high), static_cast<int64_t>(By::low),
                                            static_cast<int64_t>(By::high), static_cast<int64_t>(By::low));
  return _mm256_xor_si256(_mm256_xor_si256(_mm256_clmulepi64_epi128(vector, factors, 0x00),
                                           _mm256_clmulepi64_epi128(vector, factors, 0x11)),
                          onto);
}

[[gnu::always_inline, FPGA_VERBS_WIDE_256]] inline __m256i load_256(const uint8_t* data) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}

// At least shortest_256.
template <Polynomial polynomial>
[[FPGA_VERBS_WIDE_256]] uint32_t compute_256(uint32_t crc, const fold::Bytes& bytes) {
  const fold::Head head = fold::head_of(crc, bytes);
  size_t at = head.bytes;
  const __m128i carried = _mm_xor_si128(fold::move<polynomial, 128>(head.block), head.rest);
  __m256i first = _mm256_xor_si256(load_256(bytes.first + at), _mm256_zextsi128_si256(carried));
  __m256i second = load_256(bytes.first + at + 32);
  __m256i third = load_256(bytes.first + at + 64);
  __m256i fourth = load_256(bytes.first + at + 96);
  for (at += 128; bytes.size - at >= 128; at += 128) {
    first = move_256<polynomial, 1024>(first, load_256(bytes.first + at));
    second = move_256<polynomial, 1024>(second, load_256(bytes.first + at + 32));
    third = move_256<polynomial, 1024>(third, load_256(bytes.first + at + 64));
    fourth = move_256<polynomial, 1024>(fourth, load_256(bytes.first + at + 96));
  }
  fourth = move_256<polynomial, 256>(third, fourth);
  fourth = move_256<polynomial, 512>(second, fourth);
  fourth = move_256<polynomial, 768>(first, fourth);
  for (; bytes.size - at >= 32; at += 32)
    fourth = move_256<polynomial, 256>(fourth, load_256(bytes.first + at));
  const __m128i block = _mm_xor_si128(fold::move<polynomial, 128>(_mm256_castsi256_si128(fourth)),
                                      _mm256_extracti128_si256(fourth, 1));
  return fold::finish<polynomial>(block, bytes, at);
}

// Uses all lanes, because gcc 12 warns about the merge value of its unmasked forms.
constexpr __mmask16 whole_vector = 0xffff;

template <int index> [[gnu::always_inline, FPGA_VERBS_WIDE_512]] inline __m128i block_of(__m512i vector) {
  return _mm512_maskz_extracti32x4_epi32(0xf, vector, index);
}

template <Polynomial polynomial, unsigned bits>
[[gnu::always_inline, FPGA_VERBS_WIDE_512]] inline __m512i move_512(__m512i vector, __m512i onto) {
  using By = fold::Distance<polynomial, bits>;
  const __m512i factors = _mm512_maskz_broadcast_i32x4(
      whole_vector, _mm_set_epi64x(static_cast<int64_t>(By::high), static_cast<int64_t>(By::low)));
  constexpr int xor_of_three = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(vector, factors, 0x00),
                                   _mm512_clmulepi64_epi128(vector, factors, 0x11), onto, xor_of_three);
}

[[gnu::always_inline, FPGA_VERBS_WIDE_512]] inline __m512i load_512(const uint8_t* data) {
  return _mm512_loadu_si512(data);
}

// At least shortest_512.
template <Polynomial polynomial>
[[FPGA_VERBS_WIDE_512]] uint32_t compute_512(uint32_t crc, const fold::Bytes& bytes) {
  const fold::Head head = fold::head_of(crc, bytes);
  size_t at = head.bytes;
  const __m128i carried = _mm_xor_si128(fold::move<polynomial, 128>(head.block), head.rest);
  __m512i first = _mm512_xor_si512(load_512(bytes.first + at), _mm512_zextsi128_si512(carried));
  __m512i second = load_512(bytes.first + at + 64);
  __m512i third = load_512(bytes.first + at + 128);
  __m512i fourth = load_512(bytes.first + at + 192);
  for (at += 256; bytes.size - at >= 256; at += 256) {
    first = move_512<polynomial, 2048>(first, load_512(bytes.first + at));
    second = move_512<polynomial, 2048>(second, load_512(bytes.first + at + 64));
    third = move_512<polynomial, 2048>(third, load_512(bytes.first + at + 128));
    fourth = move_512<polynomial, 2048>(fourth, load_512(bytes.first + at + 192));
  }
  fourth = move_512<polynomial, 512>(third, fourth);
  fourth = move_512<polynomial, 1024>(second, fourth);
  fourth = move_512<polynomial, 1536>(first, fourth);
  for (; bytes.size - at >= 64; at += 64)
    fourth = move_512<polynomial, 512>(fourth, load_512(bytes.first + at));
  const __m128i block =
      _mm_xor_si128(_mm_xor_si128(fold::move<polynomial, 384>(block_of<0>(fourth)),
                                  fold::move<polynomial, 256>(block_of<1>(fourth))),
                    _mm_xor_si128(fold::move<polynomial, 128>(block_of<2>(fourth)), block_of<3>(fourth)));
  return fold::finish<polynomial>(block, bytes, at);
}

} // namespace

uint32_t icrc_wide_256(uint32_t crc, const uint8_t* data, size_t bytes) {
  return bytes < shortest_256 ? icrc_carryless_avx(crc, data, bytes)
                              : compute_256<icrc_polynomial>(crc, {data, bytes});
}

uint32_t vcrc_wide_256(uint32_t crc, const uint8_t* data, size_t bytes) {
  return bytes < shortest_256 ? vcrc_carryless_avx(crc, data, bytes)
                              : compute_256<vcrc_polynomial>(crc, {data, bytes});
}

uint32_t icrc_wide_512(uint32_t crc, const uint8_t* data, size_t bytes) {
  return bytes < shortest_512 ? icrc_carryless_avx(crc, data, bytes)
                              : compute_512<icrc_polynomial>(crc, {data, bytes});
}

uint32_t vcrc_wide_512(uint32_t crc, const uint8_t* data, size_t bytes) {
  return bytes < shortest_512 ? vcrc_carryless_avx(crc, data, bytes)
                              : compute_512<vcrc_polynomial>(crc, {data, bytes});
}

} // namespace fpga_verbs::wire

#endif
