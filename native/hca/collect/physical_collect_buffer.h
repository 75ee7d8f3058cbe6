#pragma once

#include "hca/base/parameters.h"
#include "hca/collect/execution.h"
#include "hca/collect/scoreboard.h"
#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fpga_verbs::hca {

inline constexpr uint16_t no_buffer = 0xffff;

// Segment 0 of a command alone, the rest of the header zero.
inline spec::CommandHeader segment_0_in(const uint8_t* command) {
  spec::CommandHeader segment_0;
  std::memcpy(segment_0.dwords.data(), command, spec::segment_bytes);
  return segment_0;
}

// Whether a write, which begins with DWORD `first` of its line, repeats the DWORDs of segment 0 in `dwords`,
// 2 bits, with the values received before.
inline bool repeats_segment_0(const void* segment_0, uint32_t dwords, uint32_t first, const uint8_t* source) {
  for (; dwords != 0; dwords &= dwords - 1) {
    const auto dword = static_cast<uint32_t>(std::countr_zero(dwords));
    if (std::memcmp(static_cast<const uint8_t*>(segment_0) + size_t{dword} * dword_bytes,
                    source + size_t{dword - first} * dword_bytes, dword_bytes) != 0)
      return false;
  }
  return true;
}

// A physical collect buffer: one command and its state (US8589610, header buffer, payload buffer, scoreboard
// field, scoreboard mask field). Pool buffers come first, dedicated ones after them.
struct PhysicalCollectBuffer {
  alignas(64) std::array<uint8_t, spec::command_bytes> data{}; // header buffer, then payload buffer
  uint64_t scoreboard = 0;                                     // 40 bits, bit i = segment i
  uint64_t scoreboard_mask = 0;                                // 40 bits, as of the last write
  ReceivedDwords received;                                     // 80 bits, bit i = DWORD i
  uint64_t fetch_begun = 0;                                    // clock ticks; of a command that is fetched
  uint32_t checksum_secret = 0; // of the queue pair that segment 0 names, once it is whole
  uint32_t kick_number = 0;
  uint16_t virtual_collect_buffer = no_buffer;
  uint8_t underlying_function = 0;
  spec::QualityOfServiceLevel quality_of_service_level = spec::QualityOfServiceLevel::low;
  spec::CollectGroup group =
      spec::CollectGroup::device_shared; // in which it counts: low, high or function_shared
  spec::PhysicalCollectBufferState state = spec::PhysicalCollectBufferState::free;

  Execution execution; // once it is started

  const spec::CommandHeader& header() const {
    return *reinterpret_cast<const spec::CommandHeader*>(data.data());
  }

  spec::CommandHeader segment_0() const { return segment_0_in(data.data()); }

  // Initializes the buffer for a new command.
  void begin_collecting() {
    scoreboard = 0;
    scoreboard_mask = 0;
    received = {};
    checksum_secret = 0;
  }

  // Stores the DWORDs of a line that are set in `dwords`; `source` begins with DWORD `first`, the lowest that
  // a write can contain. A repeated DWORD is stored again, and its last value counts. False, without a store:
  // a DWORD of segment 0 differs, so the write belongs to another command.
  bool store(uint32_t line, uint32_t dwords, uint32_t first, const uint8_t* source) {
    uint8_t* const target = data.data() + size_t{line} * line_bytes;
    const uint32_t had = received.line(line);
    if (line == 0 && !repeats_segment_0(data.data(), had & dwords & segment_dwords, first, source))
      return false;
    const uint32_t run = dwords >> first;
    if (dwords == line_dwords) {
      std::memcpy(target, source, line_bytes); // constant size: a few vector moves
    } else if ((run & (run + 1)) == 0) {       // without a gap
      std::memcpy(target + size_t{first} * dword_bytes, source,
                  static_cast<size_t>(std::countr_one(run)) * dword_bytes);
    } else {
      for (uint32_t rest = dwords; rest != 0; rest &= rest - 1) {
        const auto dword = static_cast<uint32_t>(std::countr_zero(rest));
        std::memcpy(target + size_t{dword} * dword_bytes, source + size_t{dword - first} * dword_bytes,
                    dword_bytes);
      }
    }
    received.add(line, dwords);
    return true;
  }
};

// All PCBs of a board. collect_buffer assigns them, and the blocks that hold one use its command.
class PhysicalCollectBuffers {
public:
  explicit PhysicalCollectBuffers(const HcaParameters& parameters)
      : buffers_(parameters.physical_collect_buffers + parameters.dedicated_physical_collect_buffers),
        pool_(parameters.physical_collect_buffers) {}

  size_t size() const { return buffers_.size(); }
  bool is_dedicated(size_t buffer) const { return buffer >= pool_; }
  PhysicalCollectBuffer& operator[](size_t buffer) { return buffers_[buffer]; }
  const PhysicalCollectBuffer& operator[](size_t buffer) const { return buffers_[buffer]; }
  auto begin() const { return buffers_.begin(); }
  auto end() const { return buffers_.end(); }

private:
  std::vector<PhysicalCollectBuffer> buffers_;
  size_t pool_; // those before it
};

} // namespace fpga_verbs::hca
