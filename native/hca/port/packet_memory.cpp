#include "hca/port/packet_memory.h"

#include <algorithm>
#include <numeric>

namespace fpga_verbs::hca {

PacketMemory::PacketMemory() {
  std::ranges::generate(memory_, link::make_packet_buffer);
  // Uses the lowest free buffer first.
  std::iota(free_buffers_.rbegin(), free_buffers_.rend(), uint16_t{0});
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
