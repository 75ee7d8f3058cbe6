// State changes of VCBs and PCBs: refusal, release, cancel, close, the half-written limit, reset.
#include "hca/collect/collect_buffer.h"

#include <cassert>

namespace fpga_verbs::hca {

namespace {

using spec::PhysicalCollectBufferState;
using spec::Refusal;
using spec::VirtualCollectBufferState;

} // namespace

void CollectBuffer::await_rest(uint16_t buffer) {
  virtual_[buffer].first_write = clock_.now();
  half_written_.append(buffer);
}

void CollectBuffer::refuse(uint16_t buffer, Refusal refusal, uint32_t offset) {
  const unsigned function = functions_.owner(buffer).underlying_function;
  VirtualCollectBuffer& vcb = virtual_[buffer];
  report(spec::EventType::virtual_collect_buffer_error, function, buffer, segment_0_of(buffer), refusal,
         offset);
  if (vcb.state == VirtualCollectBufferState::collecting)
    release(vcb.physical_collect_buffer);
  unbind(buffer);
  vcb.slots = {};
  vcb.state = VirtualCollectBufferState::error;
  vcb.refusal = refusal;
}

void CollectBuffer::report(spec::EventType type, unsigned underlying_function, uint32_t object,
                           const spec::CommandHeader& segment_0, Refusal refusal, uint32_t offset) {
  spec::EventUnit event;
  event.set_type(type);
  event.set_underlying_function(underlying_function);
  event.set_reason(static_cast<uint32_t>(refusal));
  event.set_object(object);
  event.set_detail(uint64_t{segment_0.dwords[1]} << 32 | segment_0.dwords[0]);
  event.set_offset(offset);
  ports_.report(event);
}

// Segment 0 of the command in a VCB, as far as received; zero if there is none.
spec::CommandHeader CollectBuffer::segment_0_of(uint16_t buffer) const {
  const VirtualCollectBuffer& vcb = virtual_[buffer];
  if (vcb.state == VirtualCollectBufferState::collecting &&
      buffers_[vcb.physical_collect_buffer].received.segment_0_whole())
    return buffers_[vcb.physical_collect_buffer].segment_0();
  if (vcb.state == VirtualCollectBufferState::send_queue_mode && vcb.received.segment_0_whole())
    return vcb.segment_0;
  return {};
}

void CollectBuffer::release(uint16_t buffer) {
  PhysicalCollectBuffer& pcb = buffers_[buffer];
  assert(pcb.state != PhysicalCollectBufferState::free);
  if (!buffers_.is_dedicated(buffer))
    groups_.release(pcb.underlying_function, pcb.group);
#ifdef FPGA_VERBS_MUTANT_PCB_FREED_TWICE
  if (!buffers_.is_dedicated(buffer) && groups_.taken(pcb.underlying_function, pcb.group) > 0)
    groups_.release(pcb.underlying_function, pcb.group);
#endif
  pcb.state = PhysicalCollectBufferState::free;
  pcb.virtual_collect_buffer = no_buffer;
  free_.set(buffer);
  if (buffers_.is_dedicated(buffer))
    dedicated_freed_.wake();
}

void CollectBuffer::cancel(unsigned virtual_collect_buffer) {
  const auto buffer = static_cast<uint16_t>(virtual_collect_buffer);
  VirtualCollectBuffer& vcb = virtual_[buffer];
  vcb.slots = {};
  if (vcb.state == VirtualCollectBufferState::closed)
    return;
  const uint8_t owner = functions_.owner(buffer).underlying_function;
  if (vcb.state == VirtualCollectBufferState::collecting ||
      vcb.state == VirtualCollectBufferState::send_queue_mode)
    ++counters_.function[owner].commands_cancelled;
  if (vcb.state == VirtualCollectBufferState::collecting)
    release(vcb.physical_collect_buffer);
  unbind(buffer);
}

void CollectBuffer::close(unsigned virtual_collect_buffer) {
  const uint8_t owner = functions_.owner(virtual_collect_buffer).underlying_function;
  if (virtual_[virtual_collect_buffer].state != VirtualCollectBufferState::closed &&
      owner != UnderlyingFunctionTable::no_function)
    ++counters_.function[owner].virtual_collect_buffers_closed;
  cancel(virtual_collect_buffer);
  virtual_[virtual_collect_buffer].state = VirtualCollectBufferState::closed;
}

void CollectBuffer::open(unsigned virtual_collect_buffer) {
  VirtualCollectBuffer& vcb = virtual_[virtual_collect_buffer];
  if (vcb.state == VirtualCollectBufferState::closed)
    vcb.state = VirtualCollectBufferState::free;
}

CollectBufferPort::Inspection CollectBuffer::inspect(unsigned virtual_collect_buffer) const {
  const VirtualCollectBuffer& vcb = virtual_[virtual_collect_buffer];
  return {.state = vcb.state, .refusal = vcb.refusal, .physical_collect_buffer = vcb.physical_collect_buffer};
}

bool CollectBuffer::set_bar(unsigned underlying_function, const VirtualCollectBufferBar& bar) {
  return functions_.change(underlying_function, bar, [this](unsigned buffer) {
    return virtual_[buffer].state == VirtualCollectBufferState::closed;
  });
}

void CollectBuffer::set_bars(const std::array<VirtualCollectBufferBar, spec::underlying_functions>& bars) {
  functions_.change_all(
      bars, [this](unsigned buffer) { close(buffer); }, [this](unsigned buffer) { open(buffer); });
}

void CollectBuffer::keep_guarantees() {
  while (groups_.overdrawn()) {
    const uint16_t buffer = newest_that_repays();
    if (buffer == no_buffer)
      return;
    ++counters_.function[functions_.owner(buffer).underlying_function].send_queue_mode_entered;
    hand_over(buffer);
  }
}

// The newest half-written command whose function would borrow one PCB less without it; at equal ticks the one
// in the highest VCB. no_buffer: none.
uint16_t CollectBuffer::newest_that_repays() const {
  uint16_t newest = no_buffer;
  for (unsigned number = 0; number < virtual_.size(); ++number) {
    const VirtualCollectBuffer& vcb = virtual_[number];
    if (vcb.state != VirtualCollectBufferState::collecting)
      continue;
    const PhysicalCollectBuffer& pcb = buffers_[vcb.physical_collect_buffer];
    if (groups_.repays(pcb.underlying_function, pcb.group) &&
        (newest == no_buffer || vcb.first_write >= virtual_[newest].first_write))
      newest = static_cast<uint16_t>(number);
  }
  return newest;
}

void CollectBuffer::hand_over(uint16_t buffer) {
  VirtualCollectBuffer& vcb = virtual_[buffer];
  const PhysicalCollectBuffer& pcb = buffers_[vcb.physical_collect_buffer];
  vcb.received = pcb.received;
  vcb.segment_0 = pcb.segment_0();
  release(vcb.physical_collect_buffer);
  vcb.state = VirtualCollectBufferState::send_queue_mode;
  vcb.physical_collect_buffer = no_buffer;
}

bool CollectBuffer::step() {
  if (clock_.now() < next_deadline())
    return false;
  const uint16_t buffer = half_written_.oldest();
  report(spec::EventType::half_written_command, functions_.owner(buffer).underlying_function, buffer,
         segment_0_of(buffer), Refusal::none, 0);
  half_written_.remove(buffer);
  return true;
}

uint64_t CollectBuffer::next_deadline() const {
  if (half_written_limit_ == 0 || half_written_.empty())
    return no_deadline;
  const uint64_t first_write = virtual_[half_written_.oldest()].first_write;
  return half_written_limit_ < no_deadline - first_write ? first_write + half_written_limit_ : no_deadline;
}

const char* CollectBuffer::verify() const {
  std::array<std::array<unsigned, 3>, spec::underlying_functions> taken{}; // by function and part
  for (size_t number = 0; number < buffers_.size(); ++number) {
    const PhysicalCollectBuffer& pcb = buffers_[number];
    const bool is_free = pcb.state == PhysicalCollectBufferState::free;
    if (free_.test(number) != is_free)
      return "the free PCB list disagrees with the state of a PCB";
    if (is_free)
      continue;
    if (!buffers_.is_dedicated(number))
      ++taken[pcb.underlying_function][static_cast<size_t>(pcb.group)];
    const bool locked = management_lock_[pcb.underlying_function] == number;
    const bool bound = pcb.virtual_collect_buffer != no_buffer &&
                       virtual_[pcb.virtual_collect_buffer].physical_collect_buffer == number;
    const bool collecting = pcb.state == PhysicalCollectBufferState::collecting ||
                            pcb.state == PhysicalCollectBufferState::locked;
    if (collecting != (locked || bound))
      return "a PCB collects without a VCB or lock, or is bound and does not collect";
  }
  for (unsigned number = 0; number < virtual_.size(); ++number) {
    const VirtualCollectBuffer& vcb = virtual_[number];
    const bool collecting = vcb.state == VirtualCollectBufferState::collecting;
    const bool incomplete = collecting || vcb.state == VirtualCollectBufferState::send_queue_mode;
    if (collecting != (vcb.physical_collect_buffer != no_buffer))
      return "a VCB is bound and does not collect, or collects unbound";
    if (collecting && buffers_[vcb.physical_collect_buffer].virtual_collect_buffer != number)
      return "a PCB does not know the VCB that it is bound to";
    if (half_written_.contains(static_cast<uint16_t>(number)) && !incomplete)
      return "a VCB without a command is timed as half written";
  }
  for (unsigned function = 0; function < spec::underlying_functions; ++function)
    for (size_t part = 0; part < taken[function].size(); ++part)
      if (groups_.taken(function, static_cast<spec::CollectGroup>(part)) != taken[function][part])
        return "a collect group counts other PCBs than are in use";
  return groups_.verify() ? nullptr : "the collect group table does not add up";
}

} // namespace fpga_verbs::hca
