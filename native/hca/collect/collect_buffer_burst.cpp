// Complete commands: does in one step what write() does transaction by transaction.
#include "hca/collect/collect_buffer.h"

#include "hca/collect/doorbell_checksum.h"
#include "hca/collect/scoreboard.h"

#include <cstring>

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

// Bytes of the command that starts with this segment 0, rounded up to whole segments.
uint32_t command_bytes(const uint8_t* data) {
  spec::CommandHeader segment_0;
  std::memcpy(segment_0.dwords.data(), data, spec::segment_bytes);
  return segments_needed(segment_0.length()) * spec::segment_bytes;
}

// The scoreboard after all lines of a command, in order, of which the first determines the unused segments:
// in one step, as the last line alone leaves a trace in the mask (update_scoreboard).
void fill_scoreboard(spec::ScoreboardVariant variant, uint32_t segments, PhysicalCollectBuffer& pcb) {
  const uint64_t used = (uint64_t{1} << segments) - 1;
  const uint64_t unused = all_segments & ~used;
  const uint32_t last_line = (segments - 1) / segments_per_line;
  if (variant == spec::ScoreboardVariant::direct) {
    pcb.scoreboard = used;
    pcb.scoreboard_mask = unused;
    return;
  }
  pcb.scoreboard = all_segments;
  pcb.scoreboard_mask =
      (used & uint64_t{line_segments} << last_line * segments_per_line) | (last_line == 0 ? unused : 0);
}

} // namespace

bool CollectBuffer::write_burst(const BarWrite& burst) {
  const uint16_t buffer = burst.page;
  if (buffer >= virtual_.size() || virtual_[buffer].state != spec::VirtualCollectBufferState::free ||
      !may_write(burst) || burst.offset != 0 || burst.length < spec::CommandHeader::bytes ||
      burst.length != command_bytes(burst.data))
    return false;
  const unsigned function = functions_.owner(buffer).underlying_function;
  uint8_t* const record_place = kick_records_.expect(function);
  if (!bind_to_buffer(buffer))
    return false;
  PhysicalCollectBuffer& pcb = buffers_[virtual_[buffer].physical_collect_buffer];
  std::memcpy(pcb.data.data(), burst.data, burst.length);
  pcb.received = ReceivedDwords::first(burst.length / dword_bytes);
  const Admission admission = admit(function, pcb.segment_0());
  if (admission.refusal != Refusal::none) {
    // The write of the first line is refused; the other lines find the VCB in error.
    refuse(buffer, admission.refusal, 0);
    counters_.function[function].writes_dropped += (burst.length - 1) / line_bytes;
    return true;
  }
  const spec::CommandHeader& header = pcb.header();
  pcb.quality_of_service_level = header.quality_of_service_level();
  fill_scoreboard(parameters_.scoreboard_variant, burst.length / spec::segment_bytes, pcb);
  if (header.checksum_enable() != 0 &&
      !checksum_matches(pcb.data.data(), burst.length, admission.checksum_secret)) {
    refuse(buffer, Refusal::checksum_mismatch, (burst.length - 1) / line_bytes * line_bytes);
    return true;
  }
  kick(buffer, std::nullopt, record_place);
  return true;
}

} // namespace fpga_verbs::hca
