// The dedicated PCBs of collect_buffer: buffers for fetched commands, and the management pages with their
// lock.
#include "hca/collect/collect_buffer.h"

#include "hca/collect/collect_buffer_command.h"
#include "hca/collect/scoreboard.h"
#include "spec/registers.h"

namespace fpga_verbs::hca {

namespace {

using spec::PhysicalCollectBufferState;
using spec::Refusal;

} // namespace

std::optional<uint16_t> CollectBuffer::take_from(unsigned first, unsigned end,
                                                 PhysicalCollectBufferState state) {
  const size_t found = free_.find_next(first - 1);
  if (found < first || found >= end)
    return std::nullopt;
  take(static_cast<uint16_t>(found), state);
  return static_cast<uint16_t>(found);
}

void CollectBuffer::take(uint16_t buffer, PhysicalCollectBufferState state) {
  free_.clear(buffer);
  PhysicalCollectBuffer& pcb = buffers_[buffer];
  pcb.begin_collecting();
  pcb.state = state;
  pcb.group = spec::CollectGroup::device_shared;
}

std::optional<uint16_t> CollectBuffer::take_management() {
  const unsigned first = parameters_.physical_collect_buffers;
  return take_from(first, first + parameters_.management_physical_collect_buffers,
                   PhysicalCollectBufferState::fetching);
}

std::optional<uint16_t> CollectBuffer::take_dedicated() {
  const unsigned first =
      parameters_.physical_collect_buffers + parameters_.management_physical_collect_buffers;
  return take_from(first, static_cast<unsigned>(buffers_.size()), PhysicalCollectBufferState::fetching);
}

bool CollectBuffer::has_dedicated_to_spare() const {
  const unsigned first =
      parameters_.physical_collect_buffers + parameters_.management_physical_collect_buffers;
  const size_t one = free_.find_next(first - 1);
  return buffers_.size() - first == 1 || (one >= first && free_.find_next(one) > one);
}

std::optional<uint16_t> CollectBuffer::management_lock(unsigned underlying_function) const {
  const uint16_t lock = management_lock_[underlying_function];
  return lock == no_buffer ? std::nullopt : std::optional(lock);
}

std::optional<uint16_t> CollectBuffer::lock_management(unsigned underlying_function) {
  uint16_t& lock = management_lock_[underlying_function];
  if (lock != no_buffer)
    return lock;
  const unsigned first = parameters_.physical_collect_buffers;
  const std::optional<uint16_t> found = take_from(
      first, first + parameters_.management_physical_collect_buffers, PhysicalCollectBufferState::locked);
  if (found) {
    lock = *found;
    buffers_[lock].underlying_function = static_cast<uint8_t>(underlying_function);
  }
  return found;
}

void CollectBuffer::unlock_management(unsigned underlying_function) {
  uint16_t& lock = management_lock_[underlying_function];
  if (lock == no_buffer)
    return;
  release(lock);
  lock = no_buffer;
}

void CollectBuffer::write_management_page(unsigned underlying_function, const BarWrite& write) {
  const uint16_t lock = management_lock_[underlying_function];
  if (write.byte_enables == 0)
    return;
  if (lock == no_buffer) {
    ++counters_.function[underlying_function].writes_dropped;
    return;
  }
  const uint32_t offset = write.offset - spec::underlying_function::management_page;
  const Portion portion = portion_of(write, offset);
  PhysicalCollectBuffer& pcb = buffers_[lock];
  if (portion.partial || offset >= spec::command_bytes) {
    refuse_management(underlying_function,
                      portion.partial ? Refusal::partial_double_word : Refusal::write_beyond_command, offset);
    return;
  }
  if (pcb.state == PhysicalCollectBufferState::locked)
    pcb.state = PhysicalCollectBufferState::collecting;
  const Progress progress = collect(pcb, portion);
  if (progress.refusal != Refusal::none)
    refuse_management(underlying_function, progress.refusal, offset);
  else if (progress.complete)
    kick_management(underlying_function);
}

// A management command has no queue pair and no level: both fields are 0.
CollectBuffer::Admission CollectBuffer::admit_management(const spec::CommandHeader& segment_0) {
  const Refusal refusal = check_format(segment_0);
  if (refusal != Refusal::none)
    return {.refusal = refusal};
  if (segment_0.queue_pair_number() != 0)
    return {.refusal = Refusal::unknown_queue_pair};
  if (segment_0.quality_of_service_level() != spec::QualityOfServiceLevel::low)
    return {.refusal = Refusal::wrong_quality_of_service_level};
  return {};
}

void CollectBuffer::kick_management(unsigned underlying_function) {
  const uint16_t buffer = management_lock_[underlying_function];
  management_lock_[underlying_function] = no_buffer;
  PhysicalCollectBuffer& pcb = buffers_[buffer];
  pcb.state = PhysicalCollectBufferState::kicked;
  spec::ManagementUnit unit;
  unit.set_physical_collect_buffer(buffer);
  unit.set_underlying_function(underlying_function);
  unit.set_send_queue_sequence_number(pcb.header().send_queue_sequence_number());
  management_units_.push(unit);
}

// The lock is lost with the command; its owner must request it again.
void CollectBuffer::refuse_management(unsigned underlying_function, Refusal refusal, uint32_t offset) {
  const PhysicalCollectBuffer& pcb = buffers_[management_lock_[underlying_function]];
  const spec::CommandHeader segment_0 =
      pcb.received.segment_0_whole() ? pcb.segment_0() : spec::CommandHeader{};
  report(spec::EventType::virtual_collect_buffer_error, underlying_function, no_buffer, segment_0, refusal,
         offset);
  unlock_management(underlying_function);
}

} // namespace fpga_verbs::hca
