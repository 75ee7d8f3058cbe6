#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

// How far the send queue sequence number `to` is ahead of `from`: numbers have 16 bits and are free-running.
constexpr int sequence_distance(uint32_t from, uint32_t to) { return static_cast<int16_t>(to - from); }

} // namespace fpga_verbs::hca
