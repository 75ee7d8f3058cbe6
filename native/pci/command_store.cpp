#include "pci/command_store.h"

#include "pci/mmio.h"

#include <algorithm>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace fpga_verbs::pci {

namespace {

constexpr size_t unit = 64;
constexpr size_t segment = 8;

uint64_t segment_at(const uint8_t* source) {
  uint64_t value = 0;
  std::memcpy(&value, source, sizeof value);
  return value;
}

void store_segments(volatile uint8_t* destination, const uint8_t* source, size_t bytes) {
  for (size_t at = 0; at < bytes; at += segment)
    mmio_write64(destination + at, segment_at(source + at));
}

void store_by_segments(volatile uint8_t* destination, const void* source, size_t bytes) {
  store_segments(destination, static_cast<const uint8_t*>(source), bytes);
}

#if defined(__x86_64__)

// The bodies are in functions compiled for the instructions that they use. They run only if the processor
// supports these.
#define FPGA_VERBS_TARGET(features) __attribute__((target(features)))

FPGA_VERBS_TARGET("sse2")
void store_by_sse(volatile uint8_t* destination, const void* source, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(source);
  const size_t whole = bytes / unit * unit;
  for (size_t at = 0; at < whole; at += sizeof(__m128i)) {
    auto* const to = reinterpret_cast<volatile __m128i*>(destination + at);
    *to = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
  }
  store_segments(destination + whole, from + whole, bytes - whole);
}

FPGA_VERBS_TARGET("avx")
void store_by_avx(volatile uint8_t* destination, const void* source, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(source);
  const size_t whole = bytes / unit * unit;
  for (size_t at = 0; at < whole; at += sizeof(__m256i)) {
    auto* const to = reinterpret_cast<volatile __m256i*>(destination + at);
    *to = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at));
  }
  store_segments(destination + whole, from + whole, bytes - whole);
}

FPGA_VERBS_TARGET("avx512f")
void store_by_avx512(volatile uint8_t* destination, const void* source, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(source);
  const size_t whole = bytes / unit * unit;
  for (size_t at = 0; at < whole; at += sizeof(__m512i)) {
    auto* const to = reinterpret_cast<volatile __m512i*>(destination + at);
    *to = _mm512_loadu_si512(from + at);
  }
  store_segments(destination + whole, from + whole, bytes - whole);
}

FPGA_VERBS_TARGET("movdir64b")
void store_by_movdir64b(volatile uint8_t* destination, const void* source, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(source);
  const size_t whole = bytes / unit * unit;
  for (size_t at = 0; at < whole; at += unit)
    _movdir64b(const_cast<uint8_t*>(destination + at), from + at);
  store_segments(destination + whole, from + whole, bytes - whole);
}

#undef FPGA_VERBS_TARGET

bool has_movdir64b() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned structured_features = 7;
  return __get_cpuid_count(structured_features, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_MOVDIR64B) != 0;
}

#endif

std::vector<CommandStore> find_command_stores() {
  std::vector<CommandStore> stores;
#if defined(__x86_64__)
  if (has_movdir64b())
    stores.push_back({"MOVDIR64B", 64, true, store_by_movdir64b});
  if (__builtin_cpu_supports("avx512f") != 0)
    stores.push_back({"AVX-512", 64, false, store_by_avx512});
  if (__builtin_cpu_supports("avx") != 0)
    stores.push_back({"AVX", 32, false, store_by_avx});
  stores.push_back({"SSE", 16, false, store_by_sse});
#endif
  stores.push_back({"8 B", segment, false, store_by_segments});
  return stores;
}

} // namespace

std::span<const CommandStore> command_stores() {
  static const std::vector<CommandStore> stores = find_command_stores();
  return stores;
}

const CommandStore& choose_command_store(bool combines) {
  const std::span<const CommandStore> stores = command_stores();
  if (combines || stores.front().whole_lines)
    return stores.front();
  return stores.back();
}

} // namespace fpga_verbs::pci
