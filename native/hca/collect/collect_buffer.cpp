#include "hca/collect/collect_buffer.h"

#include "hca/collect/collect_buffer_command.h"
#include "hca/collect/doorbell_checksum.h"
#include "hca/collect/scoreboard.h"

#include <bit>
#include <cstring>

namespace fpga_verbs::hca {

namespace {

using spec::DoorbellSlot;
using spec::PhysicalCollectBufferState;
using spec::Refusal;
using spec::VirtualCollectBufferState;

constexpr uint32_t command_lines = spec::command_bytes / line_bytes;
constexpr uint32_t slots_line = spec::doorbell_slots_offset / line_bytes;
constexpr uint32_t slot_count = 3;
constexpr uint32_t slot_dwords(uint32_t slot) { return segment_dwords << slot * dwords_per_segment; }
constexpr uint32_t all_slot_dwords = (1u << slot_count * dwords_per_segment) - 1;
constexpr uint32_t cancel_dwords = slot_dwords(static_cast<uint32_t>(DoorbellSlot::cancel));

} // namespace

CollectBuffer::CollectBuffer(const Ports& ports)
    : ports_(ports), functions_(parameters_), groups_(parameters_),
      virtual_(parameters_.virtual_collect_buffers), half_written_(parameters_.virtual_collect_buffers),
      free_(buffers_.size(), true) {
  management_lock_.fill(no_buffer);
}

CollectBuffer::Portion CollectBuffer::portion_of(const BarWrite& write, uint32_t offset) {
  const uint32_t first = offset % line_bytes / dword_bytes;
  Portion portion{.line = offset / line_bytes, .first = first, .data = write.data};
  const auto bytes = static_cast<uint32_t>(std::countr_one(write.byte_enables));
  const bool has_no_gap = (write.byte_enables & (write.byte_enables + 1)) == 0;
  if (has_no_gap && bytes % dword_bytes == 0) { // the usual case
    portion.dwords = ((1u << bytes / dword_bytes) - 1) << first;
    return portion;
  }
  const uint32_t dwords = whole_dwords(write.byte_enables);
  portion.dwords = dwords << first;
  portion.partial = touched_dwords(write.byte_enables) != dwords;
  return portion;
}

// Copies the part of a segment that a write contains, and returns which of its two DWORDs these are.
uint32_t CollectBuffer::copy_segment(const Portion& portion, uint32_t segment, uint32_t* target) {
  const uint32_t at = segment * dwords_per_segment;
  const uint32_t dwords = portion.dwords >> at & segment_dwords;
  for (uint32_t dword = 0; dword < dwords_per_segment; ++dword)
    if ((dwords >> dword & 1) != 0)
      std::memcpy(target + dword, portion.data + size_t{at + dword - portion.first} * dword_bytes,
                  dword_bytes);
  return dwords;
}

void CollectBuffer::write(const BarWrite& write) {
  const uint16_t buffer = write.page;
  bool is_let_in = buffer < virtual_.size() && may_write(write);
#ifdef FPGA_VERBS_MUTANT_OTHER_FUNCTION_VCB_ACCEPTED
  is_let_in = buffer < virtual_.size();
#endif
  if (!is_let_in) {
    ++counters_.device.writes_unclaimed;
    return;
  }
  if (write.byte_enables == 0)
    return;
  VirtualCollectBuffer& vcb = virtual_[buffer];
  Portion portion = portion_of(write, write.offset);
  if (vcb.state == VirtualCollectBufferState::closed || vcb.state == VirtualCollectBufferState::error) {
    // A VCB in error accepts only a cancel.
    const bool may_cancel = vcb.state == VirtualCollectBufferState::error && !portion.partial;
    portion.dwords &= may_cancel && portion.line == slots_line ? cancel_dwords : 0;
    if (portion.dwords == 0) {
      ++counters_.function[functions_.owner(buffer).underlying_function].writes_dropped;
      return;
    }
  }
  if (portion.partial)
    refuse(buffer, Refusal::partial_double_word, write.offset);
  else if (portion.line < command_lines)
    write_command(buffer, portion, write.offset);
  else if (portion.line == slots_line && (portion.dwords & ~all_slot_dwords) == 0)
    write_slots(buffer, portion, write.offset);
  else
    refuse(buffer, Refusal::write_beyond_command, write.offset);
}

void CollectBuffer::write_command(uint16_t buffer, const Portion& portion, uint32_t offset) {
  VirtualCollectBuffer& vcb = virtual_[buffer];
  const bool is_first = vcb.state == VirtualCollectBufferState::free;
  // The line crosses during the remaining work. An earlier request would lose it to the polling host again.
  uint8_t* const record_place = may_complete(vcb, portion)
                                    ? kick_records_.expect(functions_.owner(buffer).underlying_function)
                                    : nullptr;
  if (is_first)
    bind(buffer);
  const bool has_buffer = vcb.state == VirtualCollectBufferState::collecting;
  const Progress progress = has_buffer ? collect(buffers_[vcb.physical_collect_buffer], portion)
                                       : extract(vcb, functions_.owner(buffer).underlying_function, portion);
  if (progress.refusal != Refusal::none) {
    refuse(buffer, progress.refusal, offset);
  } else if (!progress.complete) {
    if (is_first)
      await_rest(buffer);
  } else {
    // A command that one write completes needs only one clock read.
    const auto begin = is_first ? std::nullopt : std::optional(vcb.first_write);
    if (has_buffer)
      kick(buffer, begin, record_place);
    else
      kick_send_queue_mode(buffer, begin);
  }
}

// Whether a write contains the last line of a command of known length; if writes are in order, it completes
// the command.
bool CollectBuffer::may_complete(const VirtualCollectBuffer& vcb, const Portion& portion) const {
  if (vcb.state != VirtualCollectBufferState::collecting)
    return false;
  const PhysicalCollectBuffer& pcb = buffers_[vcb.physical_collect_buffer];
  return pcb.received.segment_0_whole() &&
         portion.line == (segments_needed(pcb.header().length()) - 1) / segments_per_line;
}

// Binds a free VCB to a PCB. Without a PCB, puts the VCB in send queue mode.
void CollectBuffer::bind(uint16_t buffer) {
  const UnderlyingFunctionTable::Owner& owner = functions_.owner(buffer);
  if (const uint16_t taken = take_free(owner); taken != no_buffer)
    return collect_in(buffer, taken);
  enter_send_queue_mode(buffer);
  ++counters_.function[owner.underlying_function].send_queue_mode_entered;
}

// Stores one write in a PCB and updates its scoreboard (US8589610, steps 88 to 96).
CollectBuffer::Progress CollectBuffer::collect(PhysicalCollectBuffer& pcb, const Portion& portion) {
  const bool had_length = pcb.received.segment_0_whole();
  if (!pcb.store(portion.line, portion.dwords, portion.first, portion.data))
    return {.refusal = Refusal::segment_0_differs};
  uint64_t unused = 0;
  const spec::CommandHeader& header = pcb.header();
  if (pcb.received.segment_0_whole()) {
    if (!had_length) {
      const spec::CommandHeader segment_0 = pcb.segment_0();
      const Admission admission = pcb.virtual_collect_buffer == no_buffer
                                      ? admit_management(segment_0)
                                      : admit(pcb.underlying_function, segment_0);
      if (admission.refusal != Refusal::none)
        return {.refusal = admission.refusal};
      pcb.quality_of_service_level = header.quality_of_service_level();
      pcb.checksum_secret = admission.checksum_secret;
#ifndef FPGA_VERBS_MUTANT_MASK_IGNORED
      unused = unused_segments(header.length());
#endif
    }
    if (pcb.received.any_from_segment(segments_needed(header.length())))
      return {.refusal = Refusal::segment_beyond_length};
  }
  const uint32_t whole = portion.dwords == line_dwords ? line_segments
                                                       : whole_segments(pcb.received.line(portion.line)) &
                                                             touched_segments(portion.dwords);
  const uint64_t check =
      update_scoreboard(parameters_.scoreboard_variant, pcb.scoreboard, pcb.scoreboard_mask,
                        uint64_t{whole} << portion.line * segments_per_line, unused);
#ifdef FPGA_VERBS_MUTANT_KICK_ONE_WRITE_EARLY
  if ((~check & (~check - 1) & all_segments) != 0)
    return {};
#else
  if (check != all_segments)
    return {};
#endif
#ifndef FPGA_VERBS_MUTANT_CHECKSUM_IGNORED
  const bool is_command = pcb.virtual_collect_buffer != no_buffer;
  const uint32_t bytes = segments_needed(header.length()) * spec::segment_bytes;
  if (is_command && header.checksum_enable() != 0 &&
      !checksum_matches(pcb.data.data(), bytes, pcb.checksum_secret))
    return {.refusal = Refusal::checksum_mismatch};
#endif
  return {.complete = true};
}

// Send queue mode: tracks the command by DWORD and keeps its segment 0.
CollectBuffer::Progress CollectBuffer::extract(VirtualCollectBuffer& vcb, unsigned underlying_function,
                                               const Portion& portion) {
  const bool had_length = vcb.received.segment_0_whole();
  if (portion.line == 0) {
    const uint32_t again = vcb.received.line(0) & portion.dwords & segment_dwords;
    if (!repeats_segment_0(vcb.segment_0.dwords.data(), again, portion.first, portion.data))
      return {.refusal = Refusal::segment_0_differs};
    copy_segment(portion, 0, vcb.segment_0.dwords.data());
  }
  vcb.received.add(portion.line, portion.dwords);
  if (!vcb.received.segment_0_whole())
    return {};
  if (!had_length) {
    const Refusal refusal = admit(underlying_function, vcb.segment_0).refusal;
    if (refusal != Refusal::none)
      return {.refusal = refusal};
  }
  const uint32_t needed = segments_needed(vcb.segment_0.length());
  if (vcb.received.any_from_segment(needed))
    return {.refusal = Refusal::segment_beyond_length};
  return {.complete = vcb.received.all_before_segment(needed)};
}

void CollectBuffer::kick(uint16_t buffer, std::optional<uint64_t> begin, uint8_t* record_place) {
  const uint16_t number = virtual_[buffer].physical_collect_buffer;
  [[maybe_unused]] const spec::KickUnit unit = pass_on(number, buffers_[number], begin, record_place);
#ifdef FPGA_VERBS_MUTANT_KICK_TWICE
  if (kicks_collected_.has_credit())
    kicks_collected_.push(unit);
#endif
  unbind(buffer);
}

// The command is in the send queue; the scheduler will fetch it.
void CollectBuffer::kick_send_queue_mode(uint16_t buffer, std::optional<uint64_t> begin) {
  const unsigned function = functions_.owner(buffer).underlying_function;
  const spec::CommandHeader& header = virtual_[buffer].segment_0;
  push_notice(DoorbellSlot::start, function, header.quality_of_service_level(), header.queue_pair_number(),
              header.send_queue_sequence_number());
  ++counters_.function[function].send_queue_mode_kicks;
  const spec::KickUnit unit =
      kick_unit(spec::KickOrigin::send_queue_mode, function, header, take_kick_number());
  unbind(buffer);
  kick_records_.kicked(unit, buffer, header.opcode(), begin);
}

void CollectBuffer::write_slots(uint16_t buffer, const Portion& portion, uint32_t offset) {
  VirtualCollectBuffer& vcb = virtual_[buffer];
  const unsigned function = functions_.owner(buffer).underlying_function;
  for (uint32_t slot = 0; slot < slot_count; ++slot) {
    const auto kind = static_cast<DoorbellSlot>(slot);
    if (vcb.state == VirtualCollectBufferState::error && kind != DoorbellSlot::cancel)
      continue;
    DoorbellSlotState& state = vcb.slots[slot];
    state.received |= copy_segment(portion, slot, state.value.dwords.data());
    if (state.received != segment_dwords)
      continue;
    state.received = 0;
    if (kind == DoorbellSlot::cancel) {
      cancel(buffer);
      continue;
    }
    const Refusal refusal = ring_slot(kind, function, state.value);
    if (refusal != Refusal::none)
      refuse(buffer, refusal, offset);
  }
}

// Starts or stops the scheduler for a queue pair.
Refusal CollectBuffer::ring_slot(DoorbellSlot slot, unsigned underlying_function,
                                 const spec::DoorbellSlotWrite& value) {
  if (!value.reserved_is_zero())
    return Refusal::reserved_not_zero;
  const spec::QueuePairControl* control =
      queue_pairs_.find_control(underlying_function, value.queue_pair_number());
  if (control == nullptr)
    return Refusal::unknown_queue_pair;
  push_notice(slot, underlying_function, control->quality_of_service_level(), value.queue_pair_number(),
              value.send_queue_sequence_number());
  return Refusal::none;
}

void CollectBuffer::push_notice(DoorbellSlot slot, unsigned underlying_function,
                                spec::QualityOfServiceLevel level, uint32_t queue_pair_number,
                                uint32_t sequence_number) {
  spec::PostNotice notice;
  notice.set_queue_pair_number(queue_pair_number);
  notice.set_underlying_function(underlying_function);
  notice.set_quality_of_service_level(level);
  notice.set_slot(static_cast<uint32_t>(slot));
  notice.set_send_queue_sequence_number(sequence_number);
  post_notices_.push(notice);
}

} // namespace fpga_verbs::hca
