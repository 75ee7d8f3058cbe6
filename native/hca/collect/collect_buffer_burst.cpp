// Complete commands: does in one step what write() does transaction by transaction.
#include "hca/collect/collect_buffer.h"

#include "hca/collect/doorbell_checksum.h"
#include "hca/collect/scoreboard.h"

#include <cassert>
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

// The scoreboard after all lines of a command, in order; only the first line determines the unused segments.
void fill_scoreboard(spec::ScoreboardVariant variant, PhysicalCollectBuffer& pcb) {
  uint64_t unused = unused_segments(pcb.header().length());
  const uint64_t used = all_segments & ~unused;
  [[maybe_unused]] uint64_t check = 0;
  for (uint64_t line = line_segments; (line & used) != 0; line <<= segments_per_line, unused = 0)
    check = update_scoreboard(variant, pcb.scoreboard, pcb.scoreboard_mask, line & used, unused);
  assert(check == all_segments);
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
  fill_scoreboard(parameters_.scoreboard_variant, pcb);
  if (header.checksum_enable() != 0 &&
      !checksum_matches(pcb.data.data(), burst.length, admission.checksum_secret)) {
    refuse(buffer, Refusal::checksum_mismatch, (burst.length - 1) / line_bytes * line_bytes);
    return true;
  }
  kick(buffer, std::nullopt, record_place);
  return true;
}

} // namespace fpga_verbs::hca
