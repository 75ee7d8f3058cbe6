// Complete commands: does in one step what write() does transaction by transaction.
#include "hca/collect/collect_buffer.h"

#include "hca/collect/collect_buffer_command.h"
#include "hca/collect/doorbell_checksum.h"
#include "hca/collect/scoreboard.h"

#include <array>
#include <cstring>

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

// Bytes of the command that starts with this segment 0, rounded up to whole segments.
uint32_t command_bytes(const uint8_t* data) {
  return segments_needed(segment_0_in(data).length()) * spec::segment_bytes;
}

// A PCB's scoreboard after all lines of a command, in order, of which the first determines the unused
// segments: as the last line alone leaves a trace in the mask (update_scoreboard).
struct Collected {
  uint64_t scoreboard = 0;
  uint64_t scoreboard_mask = 0;
  ReceivedDwords received;
};

constexpr Collected collected(spec::ScoreboardVariant variant, uint32_t segments) {
  const uint64_t used = (uint64_t{1} << segments) - 1;
  const uint64_t unused = all_segments & ~used;
  const uint32_t last_line = (segments - 1) / segments_per_line;
  const ReceivedDwords received = ReceivedDwords::first(segments * dwords_per_segment);
  if (variant == spec::ScoreboardVariant::direct)
    return {.scoreboard = used, .scoreboard_mask = unused, .received = received};
  const uint64_t newest = used & uint64_t{line_segments} << last_line * segments_per_line;
  return {.scoreboard = all_segments,
          .scoreboard_mask = newest | (last_line == 0 ? unused : 0),
          .received = received};
}

// By segments of the command, from those of its header on.
constexpr uint32_t fewest_segments = segments_needed(0);
using CollectedBySegments = std::array<Collected, spec::segments - fewest_segments + 1>;

constexpr CollectedBySegments collected_by_segments(spec::ScoreboardVariant variant) {
  CollectedBySegments all;
  for (uint32_t i = 0; i < all.size(); ++i)
    all[i] = collected(variant, fewest_segments + i);
  return all;
}

constexpr CollectedBySegments masked = collected_by_segments(spec::ScoreboardVariant::masked);
constexpr CollectedBySegments direct = collected_by_segments(spec::ScoreboardVariant::direct);

} // namespace

bool CollectBuffer::write_burst(const BarWrite& burst) {
  const uint16_t buffer = burst.page;
  if (buffer >= parameters_.virtual_collect_buffers ||
      virtual_[buffer].state != spec::VirtualCollectBufferState::free || !may_write(burst) ||
      burst.offset != 0 || burst.length < spec::CommandHeader::bytes ||
      burst.length != command_bytes(burst.data) || !kicks_collected_.has_credit())
    return false;
  const UnderlyingFunctionTable::Owner& owner = functions_.owner(buffer);
  const uint16_t number = take_free(owner);
  if (number == no_buffer)
    return false;
  counters_.device.transactions += (burst.length + line_bytes - 1) / line_bytes;
  PhysicalCollectBuffer& pcb = buffers_[number];
  hold(pcb, buffer, owner);
  const Admission admission = admit(pcb.underlying_function, segment_0_in(burst.data));
  if (admission.refusal != Refusal::none) [[unlikely]] {
    refuse_burst(burst, number, admission.refusal);
    return true;
  }
  uint8_t* const record_place = kick_records_.expect(pcb.underlying_function);
  std::memcpy(pcb.data.data(), burst.data, burst.length);
  const spec::CommandHeader& header = pcb.header();
  if (header.checksum_enable() != 0 &&
      !checksum_matches(pcb.data.data(), burst.length, admission.checksum_secret)) [[unlikely]] {
    refuse_burst(burst, number, Refusal::checksum_mismatch);
    return true;
  }
  const CollectedBySegments& by_segments =
      parameters_.scoreboard_variant == spec::ScoreboardVariant::direct ? direct : masked;
  const Collected& all = by_segments[burst.length / spec::segment_bytes - fewest_segments];
  pcb.scoreboard = all.scoreboard;
  pcb.scoreboard_mask = all.scoreboard_mask;
  pcb.received = all.received;
  pcb.quality_of_service_level = header.quality_of_service_level();
  // The VCB, which would be bound and free again, stays as it is.
  pass_on(number, pcb, std::nullopt, record_place);
  return true;
}

// Refuses a command at the line that would show its fault: the first, but for the checksum.
void CollectBuffer::refuse_burst(const BarWrite& burst, uint16_t physical_collect_buffer, Refusal refusal) {
  const uint16_t buffer = burst.page;
  const uint32_t lines_behind_first = (burst.length - 1) / line_bytes;
  const bool is_found_last = refusal == Refusal::checksum_mismatch;
  PhysicalCollectBuffer& pcb = buffers_[physical_collect_buffer];
  collect_in(buffer, physical_collect_buffer);
  std::memcpy(pcb.data.data(), burst.data, burst.length);
  pcb.received = ReceivedDwords::first(burst.length / dword_bytes);
  const unsigned function = functions_.owner(buffer).underlying_function;
  refuse(buffer, refusal, is_found_last ? lines_behind_first * line_bytes : 0);
  if (!is_found_last) // the other lines find the VCB in error
    counters_.function[function].writes_dropped += lines_behind_first;
}

} // namespace fpga_verbs::hca
