// Byte order of packet headers. The model runs on little-endian hosts; formats of host memory are
// little-endian too.
#pragma once
#include <bit>
#include <cstdint>

namespace fpga_verbs::spec {

static_assert(std::endian::native == std::endian::little,
              "the formats of host memory are stored as they are");

/// The number in an aligned 32-bit word of a big-endian format, and the reverse.
constexpr uint32_t big_endian(uint32_t word) { return __builtin_bswap32(word); }

} // namespace fpga_verbs::spec
