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

// The lane of a packet that begins with its BTH: RDMA READ responses, acknowledgements and answers of atomics
// are responses.
Lane lane_of(std::span<const uint8_t> transport);

// Buffers of a link for what a socket has received, and the packets in them, in order on each lane.
class ArrivedPackets {
public:
  static constexpr size_t buffers = 64;

  ArrivedPackets();

  // Free buffers, and those that are filled next: `index` below their number.
  size_t free() const { return free_.size(); }
  std::span<uint8_t> buffer(size_t index) { return buffers_[free_[index]].bytes; }

  // The first free buffer holds a packet of so many bytes from its begin.
  void add(Lane lane, size_t bytes);
  // The first free buffer holds nothing of use, and is the last one now.
  void skip();

  // As of a link.
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
