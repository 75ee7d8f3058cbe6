#pragma once

#include "hca/scoreboard.h"
#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

inline constexpr uint16_t no_buffer = 0xffff;

// A physical collect buffer: one command, and what is known of it (US8589610, header buffer, payload buffer,
// scoreboard field, scoreboard mask field). Pool buffers come first, dedicated ones after them.
struct PhysicalCollectBuffer {
  alignas(64) std::array<uint8_t, spec::command_bytes> data{}; // header buffer, then payload buffer
  uint64_t scoreboard = 0;                                     // 40 bits, bit i = segment i
  uint64_t scoreboard_mask = 0;                                // 40 bits, as of the last write
  ReceivedDwords received;                                     // 80 bits, bit i = DWORD i
  uint64_t checksum = 0;    // running sum of the doorbell checksum and the secret
  uint64_t first_write = 0; // clock ticks
  uint64_t kicked_at = 0;   // clock ticks
  uint32_t kick_number = 0;
  uint16_t virtual_collect_buffer = no_buffer;
  uint8_t underlying_function = 0;
  spec::QualityOfServiceLevel quality_of_service_level = spec::QualityOfServiceLevel::low;
  spec::CollectGroup group =
      spec::CollectGroup::device_shared; // in which it counts: low, high or function_shared
  spec::PhysicalCollectBufferState state = spec::PhysicalCollectBufferState::free;

  const spec::CommandHeader& header() const {
    return *reinterpret_cast<const spec::CommandHeader*>(data.data());
  }
};

using PhysicalCollectBuffers = std::vector<PhysicalCollectBuffer>;

} // namespace fpga_verbs::hca
