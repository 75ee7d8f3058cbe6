#pragma once

#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <memory>

namespace fpga_verbs::link {

// Memory for one packet, in whole cache lines. Boards of one process hand packets to each other by exchanging
// buffers: each has one owner at a time, so that a packet outlives the board that built it, and as many stay
// on each side as there were.
struct alignas(64) PacketBytes {
  std::array<uint8_t, spec::packet_buffer_bytes> bytes;
};
using PacketBuffer = std::unique_ptr<PacketBytes>;

// One whose bytes are undefined.
inline PacketBuffer make_packet_buffer() { return std::make_unique_for_overwrite<PacketBytes>(); }

} // namespace fpga_verbs::link
