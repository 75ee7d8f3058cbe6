#include "hca/port/packet_memory.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace fpga_verbs::hca {

PacketMemory::PacketMemory() {
  std::ranges::generate(memory_, link::make_packet_buffer);
  // The lowest is the first to be used.
  std::iota(free_buffers_.rbegin(), free_buffers_.rend(), uint16_t{0});
}

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
  const uint16_t handle = free_buffers_[--free_count_];
  Packet& packet = packets_[handle];
  packet.use = use;
  packet.is_free = false;
  packet.receive_entry = no_receive_entry;
  packet.duplicate = false;
  packet.receive_kept = false;
  return handle;
}

void PacketMemory::release(uint16_t packet) {
  assert(!packets_[packet].is_free);
  packets_[packet].is_free = true;
  free_buffers_[free_count_++] = packet;
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
    if (!packets_[packet].is_free)
      ++used[static_cast<size_t>(packets_[packet].use)];
  for (size_t use = 0; use < uses; ++use)
    if (used[use] + free_[use] != buffers_of[use])
      return "packet_memory: buffers are neither free nor counted";
  return nullptr;
}

} // namespace fpga_verbs::hca
