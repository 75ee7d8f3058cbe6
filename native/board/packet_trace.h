#pragma once

#include "hca/base/clock.h"
#include "hca/port/packet_tap.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace fpga_verbs::board {

// A packet at a port of a board.
struct PortPacket {
  hca::PacketDirection direction = hca::PacketDirection::out;
  unsigned port = 1;
  uint64_t time = 0; // device clock, ticks
  std::vector<uint8_t> bytes;
};

// Records the packets at the ports of a board while there is room; counts the rest.
class PacketTrace {
public:
  explicit PacketTrace(const hca::Clock& clock) : clock_(clock) {}

  // Restarts with room for `capacity` packets.
  void start(size_t capacity) {
    packets_.clear();
    capacity_ = capacity;
    on_ = true;
  }
  void stop() { on_ = false; }
  bool on() const { return on_; }

  void packet(hca::PacketDirection direction, unsigned port, std::span<const uint8_t> bytes) {
    if (!on_)
      return;
    if (packets_.size() < capacity_)
      packets_.push_back({direction, port, clock_.now(), {bytes.begin(), bytes.end()}});
    else
      ++dropped_;
  }

  // Returns and clears the recorded packets.
  std::vector<PortPacket> take() { return std::exchange(packets_, {}); }
  uint64_t dropped() const { return dropped_; }

private:
  const hca::Clock& clock_;
  std::vector<PortPacket> packets_;
  size_t capacity_ = 0;
  uint64_t dropped_ = 0;
  bool on_ = false;
};

} // namespace fpga_verbs::board
