#pragma once

#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <memory>

namespace fpga_verbs::link {

// Memory for one packet, in whole cache lines. Boards of one process pass packets by exchanging buffers. Each
// buffer has one owner at a time, so a packet outlives the board that built it, and each side keeps its
// number of buffers.
struct alignas(64) PacketBytes {
  std::array<uint8_t, spec::packet_buffer_bytes> bytes;
};
using PacketBuffer = std::unique_ptr<PacketBytes>;

// A buffer with undefined content.
inline PacketBuffer make_packet_buffer() { return std::make_unique_for_overwrite<PacketBytes>(); }

} // namespace fpga_verbs::link
