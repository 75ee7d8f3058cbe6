#pragma once

#include "board/packet_capture.h"
#include "board/packet_trace.h"

namespace fpga_verbs::board {

// The observers of the packets at the ports of a board. Under the board's lock.
struct PacketTaps final : hca::PacketTap {
  explicit PacketTaps(const hca::Clock& clock) : trace(clock), capture(clock) {}

  void packet(hca::PacketDirection direction, unsigned port, std::span<const uint8_t> bytes,
              const wire::PacketCause& cause) override {
    trace.packet(direction, port, bytes);
    capture.packet(direction, port, bytes, cause);
  }

  // Whether packets are traced or captured.
  bool on() const { return trace.on() || capture.on(); }

  PacketTrace trace;
  PacketCapture capture;
};

} // namespace fpga_verbs::board
