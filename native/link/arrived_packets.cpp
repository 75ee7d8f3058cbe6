#include "link/arrived_packets.h"

#include "spec/enums.h"
#include "spec/packet_opcodes.h"
#include "spec/packets.h"
#include "wire/packet_bytes.h"

namespace fpga_verbs::link {

Lane lane_of(std::span<const uint8_t> transport) {
  const auto opcode = static_cast<spec::PacketOpcode>(
      wire::read_header<spec::BaseTransportHeader>(transport.data()).opcode());
  return spec::traits_of(opcode).is_response() ? Lane::responses : Lane::requests;
}

ArrivedPackets::ArrivedPackets() : buffers_(std::make_unique_for_overwrite<Buffer[]>(buffers)) {
  for (size_t buffer = 0; buffer < buffers; ++buffer)
    free_.push_back(buffer);
}

void ArrivedPackets::add(Lane lane, size_t bytes) {
  buffers_[free_.front()].length = bytes;
  arrived_[static_cast<size_t>(lane)].push_back(free_.front());
  free_.pop_front();
}

void ArrivedPackets::skip() {
  free_.push_back(free_.front());
  free_.pop_front();
}

std::span<const uint8_t> ArrivedPackets::front(Lane lane) const {
  const std::deque<size_t>& here = arrived_[static_cast<size_t>(lane)];
  if (here.empty())
    return {};
  const Buffer& buffer = buffers_[here.front()];
  return {buffer.bytes.data(), buffer.length};
}

void ArrivedPackets::pop(Lane lane) {
  std::deque<size_t>& here = arrived_[static_cast<size_t>(lane)];
  free_.push_back(here.front());
  here.pop_front();
}

} // namespace fpga_verbs::link
