#include "hca/registers/underlying_function_registers.h"

#include "hca/registers/queue_pair_inspection.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <array>
#include <bit>

namespace fpga_verbs::hca {

namespace r = spec::underlying_function;

namespace {

constexpr std::array levels{spec::QualityOfServiceLevel::low, spec::QualityOfServiceLevel::high};
constexpr std::array groups{spec::CollectGroup::low, spec::CollectGroup::high,
                            spec::CollectGroup::function_shared};

// Credits of one kind that lanes, one bit each, hold, in the fields of a register of either kind.
template <class Status>
uint64_t status_of(const VirtualKickPort& virtual_kick, CreditKind kind, uint64_t lanes) {
  uint32_t own = 0;
  uint32_t own_free = 0;
  uint32_t shared_held = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    own += virtual_kick.credit_division(kind, lane).own;
    own_free += virtual_kick.own_credits_free(kind, lane);
    shared_held += virtual_kick.shared_credits_held(kind, lane);
  }
  Status status;
  status.set_own(own);
  status.set_own_free(own_free);
  status.set_shared_held(shared_held);
  status.set_shared_free(virtual_kick.shared_credits_free(kind));
  return status.bits;
}

} // namespace

UnderlyingFunctionRegisters::UnderlyingFunctionRegisters(unsigned underlying_function, const Clock& clock,
                                                         FunctionCounters& counters, DeviceRegisters& device,
                                                         Blocks blocks)
    : underlying_function_(underlying_function), clock_(clock), counters_(counters), device_(device),
      blocks_(blocks) {}

std::optional<RegisterPage::Register> UnderlyingFunctionRegisters::value(uint32_t offset) const {
  switch (offset) {
  case r::status:
    return Register{status()};
  case r::virtual_collect_buffer_bar:
    return Register{bar()};
  case r::virtual_collect_buffer_sub_bar:
    return Register{sub_bar()};
  case r::clock:
    return Register{clock_.now(), true};
  case r::management_lock:
    return Register{management_lock_.bits};
  case r::management_queue_size:
    return Register{blocks_.management_queue.size(underlying_function_).bits};
  case r::management_send_queue_address:
    return Register{blocks_.management_queue.send_queue_address(underlying_function_), true};
  case r::management_completion_queue_address:
    return Register{blocks_.management_queue.completion_queue_address(underlying_function_), true};
  case r::physical_collect_buffers_borrowed:
    return Register{blocks_.collect_buffer.groups().borrowed(underlying_function_)};
  case r::kick_record_control:
    return Register{blocks_.kick_records.control(underlying_function_).bits};
  case r::kick_record_address:
    return Register{blocks_.kick_records.address(underlying_function_), true};
  case r::kick_record_head_address:
    return Register{blocks_.kick_records.head_address(underlying_function_), true};
  case r::queuing_structure_size:
    return Register{blocks_.send_queue_scheduler.queuing_structure_size(underlying_function_).bits};
  case r::inspect_queue_pair:
    return Register{inspect_queue_pair_};
  case r::inspect_queue_pair_state:
    return Register{inspected_state<r::InspectQueuePairState>(inspected_queue_pair())};
  case r::inspect_queue_pair_positions:
    return Register{inspected_positions<r::InspectQueuePairPositions>(inspected_queue_pair()), true};
  case r::inspect_queue_pair_lane:
    return Register{inspected_lane<r::InspectQueuePairLane>(inspected_queue_pair(), inspected_number(),
                                                            blocks_.virtual_kick, blocks_.waiting_for_room)};
  case r::inspect_queue_pair_numbers:
    return Register{inspected_numbers<r::InspectQueuePairNumbers>(inspected_queue_pair(), inspected_number(),
                                                                  blocks_.virtual_queue_pairs),
                    true};
  case r::completion_queue_arm:
  case r::receive_doorbell:
    return Register{0, true};
  case r::reset:
  case r::management_unlock:
  case r::management_doorbell:
  case r::event_queue_arm:
    return Register{0};
  default:
    break;
  }
  if (const auto found = counter(offset))
    return Register{*found, true};
  return array(offset);
}

std::optional<uint64_t> UnderlyingFunctionRegisters::counter(uint32_t offset) const {
  switch (offset) {
  case r::kicks:
    return counters_.kicks;
  case r::send_queue_mode_kicks:
    return counters_.send_queue_mode_kicks;
  case r::scheduled_kicks:
    return counters_.scheduled_kicks;
  case r::commands_refused:
    return counters_.commands_refused;
  case r::writes_dropped:
    return counters_.writes_dropped;
  case r::commands_stale:
    return counters_.commands_stale;
  case r::commands_handed_back:
    return counters_.commands_handed_back;
  case r::checksum_mismatches:
    return counters_.checksum_mismatches;
  case r::commands_cancelled:
    return counters_.commands_cancelled;
  case r::commands_sent:
    return counters_.commands_sent;
  case r::commands_failed:
    return counters_.commands_failed;
  case r::kick_records_written:
    return counters_.kick_records_written;
  case r::kick_records_dropped:
    return counters_.kick_records_dropped;
  case r::events_dropped:
    return counters_.events_dropped;
  case r::dma_faults:
    return counters_.dma_faults;
  case r::reads_refused:
    return counters_.reads_refused;
  case r::half_written_commands:
    return counters_.half_written_commands;
  case r::completions_dropped:
    return counters_.completions_dropped;
  case r::requests_dropped:
    return counters_.requests_dropped;
  case r::requests_duplicate:
    return counters_.requests_duplicate;
  case r::negative_acknowledges:
    return counters_.negative_acknowledges;
  case r::receiver_not_ready_negative_acknowledges:
    return counters_.receiver_not_ready_negative_acknowledges;
  case r::send_queue_mode_entered:
    return counters_.send_queue_mode_entered;
  case r::list_refusals:
    return counters_.list_refusals;
  case r::dedicated_waits:
    return counters_.dedicated_waits;
  case r::virtual_collect_buffers_closed:
    return counters_.virtual_collect_buffers_closed;
  case r::corrected_bit_errors:
    return counters_.corrected_bit_errors;
  case r::detected_bit_errors:
    return counters_.detected_bit_errors;
  case r::delayed_reads:
    return counters_.delayed_reads;
  case r::read_tag_waits:
    return counters_.read_tag_waits;
  default:
    return std::nullopt;
  }
}

std::optional<RegisterPage::Register> UnderlyingFunctionRegisters::array(uint32_t offset) const {
  const CollectGroupTable& table = blocks_.collect_buffer.groups();
  if (const auto index =
          register_index(offset, r::virtual_collect_buffer_in_use, r::virtual_collect_buffer_in_use_count,
                         r::virtual_collect_buffer_in_use_stride))
    return Register{virtual_collect_buffers_in_use(*index)};
  if (const auto index =
          register_index(offset, r::physical_collect_buffers_total, r::physical_collect_buffers_total_count,
                         r::physical_collect_buffers_total_stride))
    return Register{table.total(underlying_function_, groups[*index])};
  if (const auto index = register_index(offset, r::physical_collect_buffers_available,
                                        r::physical_collect_buffers_available_count,
                                        r::physical_collect_buffers_available_stride))
    return Register{table.available(underlying_function_, groups[*index])};
  if (const auto index =
          register_index(offset, r::physical_collect_buffers_in_use, r::physical_collect_buffers_in_use_count,
                         r::physical_collect_buffers_in_use_stride))
    return Register{table.in_use(underlying_function_, groups[*index])};
  if (const auto index =
          register_index(offset, r::queuing_structure_address, r::queuing_structure_address_count,
                         r::queuing_structure_address_stride))
    return Register{
        blocks_.send_queue_scheduler.queuing_structure_address(underlying_function_, levels[*index]), true};
  if (const auto index = register_index(offset, r::transmit_virtual_lanes, r::transmit_virtual_lanes_count,
                                        r::transmit_virtual_lanes_stride))
    return Register{blocks_.virtual_kick.lanes(underlying_function_, levels[*index]), true};
  const VirtualKickPort& virtual_kick = blocks_.virtual_kick;
  const auto lanes_of = [&](uint32_t index) {
    return virtual_kick.lanes(underlying_function_, levels[index]);
  };
  if (const auto index = register_index(offset, r::level_execution_credits, r::level_execution_credits_count,
                                        r::level_execution_credits_stride))
    return Register{
        status_of<r::LevelExecutionCredits>(virtual_kick, CreditKind::execution, lanes_of(*index)), true};
  if (const auto index =
          register_index(offset, r::level_completion_credits, r::level_completion_credits_count,
                         r::level_completion_credits_stride))
    return Register{
        status_of<r::LevelCompletionCredits>(virtual_kick, CreditKind::completion, lanes_of(*index)), true};
  if (const auto index = register_index(offset, r::send_holds, r::send_holds_count, r::send_holds_stride))
    return Register{counters_.send_holds[*index], true};
  if (const auto index = register_index(offset, r::room_waits, r::room_waits_count, r::room_waits_stride))
    return Register{counters_.room_waits[*index], true};
  if (const auto index =
          register_index(offset, r::credit_waits, r::credit_waits_count, r::credit_waits_stride))
    return Register{counters_.credit_waits[*index], true};
  if (register_index(offset, r::management_page, r::management_page_count, r::management_page_stride))
    return Register{0};
  return std::nullopt;
}

uint32_t UnderlyingFunctionRegisters::status() const {
  r::Status status;
  status.set_enabled(device_.enabled ? 1 : 0);
  status.set_underlying_function(underlying_function_);
  return status.bits;
}

uint32_t UnderlyingFunctionRegisters::bar() const {
  const VirtualCollectBufferBar& bar = blocks_.collect_buffer.bar(underlying_function_);
  r::VirtualCollectBufferBar value;
  value.set_base(bar.base);
  value.set_count(bar.count);
  return value.bits;
}

uint32_t UnderlyingFunctionRegisters::sub_bar() const {
  const VirtualCollectBufferBar& bar = blocks_.collect_buffer.bar(underlying_function_);
  r::VirtualCollectBufferSubBar value;
  value.set_low(bar.low);
  value.set_high(bar.high);
  return value.bits;
}

uint32_t UnderlyingFunctionRegisters::virtual_collect_buffers_in_use(uint32_t index) const {
  const VirtualCollectBufferBar& bar = blocks_.collect_buffer.bar(underlying_function_);
  uint32_t in_use = 0;
  for (uint32_t bit = 0; bit < 32 && index * 32 + bit < bar.count; ++bit) {
    const auto buffer = blocks_.collect_buffer.inspect(bar.base + index * 32 + bit);
    if (buffer.state != spec::VirtualCollectBufferState::free)
      in_use |= uint32_t{1} << bit;
  }
  return in_use;
}

bool UnderlyingFunctionRegisters::has_read_effect(uint32_t offset) const {
  return offset == r::management_lock;
}

void UnderlyingFunctionRegisters::read_effect(uint32_t offset) {
  if (!has_read_effect(offset))
    return;
  management_lock_ = {};
  if (const auto buffer = blocks_.collect_buffer.lock_management(underlying_function_)) {
    management_lock_.set_granted(1);
    management_lock_.set_physical_collect_buffer(*buffer);
  }
}

bool UnderlyingFunctionRegisters::set_value(uint32_t offset, uint64_t value) {
  const uint32_t low = static_cast<uint32_t>(value);
  switch (offset) {
  case r::reset:
    if (r::Reset{low}.reset() != 0)
      device_.function_resets_requested |= uint32_t{1} << underlying_function_;
    return true;
  case r::management_unlock:
    if (r::ManagementUnlock{low}.unlock() != 0)
      blocks_.collect_buffer.unlock_management(underlying_function_);
    return true;
  case r::management_doorbell:
    blocks_.management_queue.doorbell(underlying_function_, r::ManagementDoorbell{low});
    return true;
  case r::management_queue_size:
    return blocks_.management_queue.set_size(underlying_function_, r::ManagementQueueSize{low});
  case r::management_send_queue_address:
    return blocks_.management_queue.set_send_queue_address(underlying_function_, value);
  case r::management_completion_queue_address:
    return blocks_.management_queue.set_completion_queue_address(underlying_function_, value);
  case r::kick_record_control:
    blocks_.kick_records.set_control(underlying_function_, r::KickRecordControl{low});
    return true;
  case r::kick_record_address:
    blocks_.kick_records.set_address(underlying_function_, value);
    return true;
  case r::kick_record_head_address:
    blocks_.kick_records.set_head_address(underlying_function_, value);
    return true;
  case r::queuing_structure_size:
    blocks_.send_queue_scheduler.set_queuing_structure_size(underlying_function_,
                                                            r::QueuingStructureSize{low});
    return true;
  case r::inspect_queue_pair:
    inspect_queue_pair_ = low;
    return true;
  case r::event_queue_arm:
    blocks_.event_queue.arm(underlying_function_, r::EventQueueArm{low}.event_queue());
    return true;
  case r::completion_queue_arm:
    return blocks_.completion_queue.arm(underlying_function_, r::CompletionQueueArm{value});
  case r::receive_doorbell:
    return blocks_.descriptor_fetch.doorbell(underlying_function_, r::ReceiveDoorbell{value});
  default:
    break;
  }
  const auto level = register_index(offset, r::queuing_structure_address, r::queuing_structure_address_count,
                                    r::queuing_structure_address_stride);
  if (!level)
    return false;
  blocks_.send_queue_scheduler.set_queuing_structure_address(underlying_function_, levels[*level], value);
  return true;
}

} // namespace fpga_verbs::hca
