#pragma once

#include "spec/byte_order.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace fpga_verbs::wire {

using Gid = std::array<uint8_t, 16>;

// An IPv4 address as a GID is ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
inline constexpr std::array<uint8_t, 12> ipv4_gid_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

inline bool is_ipv4(std::span<const uint8_t, 16> gid) {
  return std::ranges::equal(gid.first<ipv4_gid_prefix.size()>(), ipv4_gid_prefix);
}

// ff00::/8, or 224.0.0.0/4.
inline bool is_multicast(std::span<const uint8_t, 16> gid) {
  return is_ipv4(gid) ? gid[ipv4_gid_prefix.size()] >> 4 == 0xe : gid[0] == 0xff;
}

// a.b.c.d of ::ffff:a.b.c.d, a in the top byte.
inline uint32_t ipv4_address(std::span<const uint8_t, 16> gid) {
  uint32_t word = 0;
  std::memcpy(&word, gid.data() + ipv4_gid_prefix.size(), sizeof(word));
  return spec::big_endian(word);
}

inline Gid ipv4_gid(uint32_t address) {
  Gid gid{};
  std::ranges::copy(ipv4_gid_prefix, gid.begin());
  const uint32_t word = spec::big_endian(address);
  std::memcpy(gid.data() + ipv4_gid_prefix.size(), &word, sizeof(word));
  return gid;
}

} // namespace fpga_verbs::wire
