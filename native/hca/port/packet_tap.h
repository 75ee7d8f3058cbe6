#pragma once

#include "wire/packet_cause.h"

#include <cstdint>
#include <span>

namespace fpga_verbs::hca {

enum class PacketDirection : uint8_t { in, out };

// Sees every packet at a port, as it is on the wire. A packet to an own address leaves and comes in.
class PacketTap {
public:
  virtual ~PacketTap() = default;
  virtual void packet(PacketDirection direction, unsigned port, std::span<const uint8_t> bytes,
                      const wire::PacketCause& cause) = 0;
};

} // namespace fpga_verbs::hca
