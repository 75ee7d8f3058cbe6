#pragma once

#include "wire/packet_cause.h"

#include <cstdint>
#include <span>

namespace fpga_verbs::hca {

enum class PacketDirection : uint8_t { in, out };

// Sees every packet at a port in wire format. A packet to the device's own address leaves and arrives.
class PacketTap {
public:
  virtual ~PacketTap() = default;
  virtual void packet(PacketDirection direction, unsigned port, std::span<const uint8_t> bytes,
                      const wire::PacketCause& cause) = 0;
};

} // namespace fpga_verbs::hca
