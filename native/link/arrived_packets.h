#pragma once

#include "link/link.h"
#include "spec/parameters.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace fpga_verbs::link {

// The lane of a packet that begins with its BTH: RDMA READ responses, acknowledgments and atomic responses
// use the response lane.
Lane lane_of(std::span<const uint8_t> transport);

// Receive buffers of a socket link and the packets in them, in order on each lane.
class ArrivedPackets {
public:
  static constexpr size_t buffers = 64;

  ArrivedPackets();

  // Number of free buffers, and the buffers to fill next: `index` below that number.
  size_t free() const { return free_.size(); }
  std::span<uint8_t> buffer(size_t index) { return buffers_[free_[index]].bytes; }

  // Queues the packet of `bytes` bytes in the first free buffer.
  void add(Lane lane, size_t bytes);
  // Discards the content of the first free buffer and makes it the last one.
  void skip();

  // As Link::front.
  std::span<const uint8_t> front(Lane lane) const;
  void pop(Lane lane);

private:
  struct Buffer {
    size_t length = 0;
    std::array<uint8_t, spec::packet_buffer_bytes> bytes;
  };

  std::unique_ptr<Buffer[]> buffers_;
  std::deque<size_t> free_;
  std::array<std::deque<size_t>, lanes> arrived_;
};

} // namespace fpga_verbs::link
