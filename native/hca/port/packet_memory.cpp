#include "hca/port/packet_memory.h"

#include <cassert>

namespace fpga_verbs::hca {

PacketMemory::PacketMemory()
    : memory_(std::make_unique_for_overwrite<uint8_t[]>(size_t{buffers} * spec::packet_buffer_bytes)) {}

bool PacketMemory::take_credit(PacketUse use) {
  const auto index = static_cast<size_t>(use);
  wanted_[index] = free_[index] == 0;
  if (wanted_[index])
    return false;
  --free_[index];
  return true;
}

void PacketMemory::return_credit(PacketUse use) {
  const auto index = static_cast<size_t>(use);
  ++free_[index];
  if (!wanted_[index])
    return;
  wanted_[index] = false;
  wakers_[index].wake();
}

std::optional<uint16_t> PacketMemory::allocate(PacketUse use) {
  if (!take_credit(use))
    return std::nullopt;
  const auto packet = static_cast<uint16_t>(free_buffers_.find_first());
  free_buffers_.clear(packet);
  static constexpr Packet blank{};
  packets_[packet] = blank;
  packets_[packet].use = use;
  return packet;
}

void PacketMemory::release(uint16_t packet) {
  assert(!free_buffers_.test(packet));
  free_buffers_.set(packet);
  return_credit(packets_[packet].use);
}

bool PacketMemory::change_use(uint16_t packet, PacketUse use) {
  if (!take_credit(use))
    return false;
  return_credit(packets_[packet].use);
  packets_[packet].use = use;
  return true;
}

const char* PacketMemory::verify() const {
  std::array<uint32_t, uses> used{};
  for (uint16_t packet = 0; packet < buffers; ++packet)
    if (!free_buffers_.test(packet))
      ++used[static_cast<size_t>(packets_[packet].use)];
  for (size_t use = 0; use < uses; ++use)
    if (used[use] + free_[use] != buffers_of[use])
      return "packet_memory: buffers are neither free nor counted";
  return nullptr;
}

} // namespace fpga_verbs::hca
