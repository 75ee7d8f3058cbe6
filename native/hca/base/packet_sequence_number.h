#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

inline constexpr uint32_t psn_mask = 0xffffff;

constexpr uint32_t psn_add(uint32_t psn, uint32_t packets) { return (psn + packets) & psn_mask; }

// How far the packet sequence number `to` is ahead of `from`: numbers have 24 bits, and half of them are
// ahead (InfiniBand volume 1, 9.7.1).
constexpr int32_t psn_distance(uint32_t from, uint32_t to) {
  return static_cast<int32_t>((to - from) << 8) >> 8;
}

constexpr uint32_t path_mtu_bytes(uint32_t path_mtu) { return 128u << path_mtu; }

// Number of packets of a message, at least one.
constexpr uint32_t packets_of(uint64_t message_length, uint32_t mtu_bytes) {
  return message_length == 0 ? 1 : static_cast<uint32_t>((message_length + mtu_bytes - 1) / mtu_bytes);
}

} // namespace fpga_verbs::hca
