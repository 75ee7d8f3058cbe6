#pragma once

#include "hca/port/packet_memory.h"
#include "spec/packets.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The bytes in memory before the data of every datagram: its GRH, or the room for one.
inline constexpr uint32_t global_route_bytes = spec::GlobalRouteHeader::bytes;

// Makes the GRH of a datagram that has arrived part of its payload: 40 B before its data (InfiniBand volume
// 1, 11.4.1.2). An IPv6 header stands for it as it is, an IPv4 header in the last 20 B with zeros before it
// (annex A17). Returns where the payload belongs in memory: without GRH behind the room for one.
uint32_t expose_global_route(PacketMemory& packets, uint16_t packet);

} // namespace fpga_verbs::hca
