#pragma once

#include "hca/port/packet_memory.h"
#include "spec/packets.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Bytes in memory in front of the data of every datagram: its GRH, or room for one.
inline constexpr uint32_t global_route_bytes = spec::GlobalRouteHeader::bytes;

// Makes the GRH of a received datagram part of its payload: 40 B in front of its data (InfiniBand volume 1,
// 11.4.1.2). An IPv6 header replaces it unchanged; an IPv4 header goes into the last 20 B, with zeros in
// front (annex A17). Returns the offset of the payload in memory: without a GRH, behind the room for one.
uint32_t expose_global_route(PacketMemory& packets, uint16_t packet);

} // namespace fpga_verbs::hca
