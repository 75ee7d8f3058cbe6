#pragma once

#include <cstddef>
#include <cstdint>

// The functions of the implementations in wire/icrc.h, each family in a file of its own.
namespace fpga_verbs::wire {

// Eight bytes at a time by tables: on every CPU, and for what is too short for the others.
uint32_t icrc_slicing(uint32_t crc, const uint8_t* data, size_t bytes);
uint32_t vcrc_slicing(uint32_t crc, const uint8_t* data, size_t bytes);

#if defined(__x86_64__)
// PCLMULQDQ: 64 bytes at a time.
uint32_t icrc_carryless(uint32_t crc, const uint8_t* data, size_t bytes);
uint32_t vcrc_carryless(uint32_t crc, const uint8_t* data, size_t bytes);

// The same with AVX.
uint32_t icrc_carryless_avx(uint32_t crc, const uint8_t* data, size_t bytes);
uint32_t vcrc_carryless_avx(uint32_t crc, const uint8_t* data, size_t bytes);

// VPCLMULQDQ on AVX2: 128 bytes at a time.
uint32_t icrc_wide_256(uint32_t crc, const uint8_t* data, size_t bytes);
uint32_t vcrc_wide_256(uint32_t crc, const uint8_t* data, size_t bytes);

// VPCLMULQDQ on AVX-512: 256 bytes at a time.
uint32_t icrc_wide_512(uint32_t crc, const uint8_t* data, size_t bytes);
uint32_t vcrc_wide_512(uint32_t crc, const uint8_t* data, size_t bytes);
#elif defined(__aarch64__)
// CRC32 instructions: 8 bytes at a time.
uint32_t icrc_crc32(uint32_t crc, const uint8_t* data, size_t bytes);
#endif

} // namespace fpga_verbs::wire
