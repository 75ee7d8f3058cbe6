#include "hca/registers/control_registers.h"

#include "hca/registers/queue_pair_inspection.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/registers.h"

namespace fpga_verbs::hca {

namespace r = spec::control;

namespace {

// Function and level of a mapping table entry: function f, level l at index 2f + l.
constexpr unsigned function_of(uint32_t index) { return index / spec::quality_of_service_levels; }
constexpr spec::QualityOfServiceLevel level_of(uint32_t index) {
  return static_cast<spec::QualityOfServiceLevel>(index % spec::quality_of_service_levels);
}

} // namespace

ControlRegisters::ControlRegisters(const HcaParameters& parameters, Counters& counters,
                                   DeviceRegisters& device, Blocks blocks)
    : parameters_(parameters), counters_(counters), device_(device), blocks_(blocks) {}

const PhysicalCollectBuffer* ControlRegisters::selected() const {
  const unsigned buffer = device_.inspect_select.physical_collect_buffer();
  if (buffer >= parameters_.physical_collect_buffers + parameters_.dedicated_physical_collect_buffers)
    return nullptr;
  return &blocks_.buffers[buffer];
}

std::optional<RegisterPage::Register> ControlRegisters::value(uint32_t offset) const {
  const CollectGroupTable& groups = blocks_.collect_buffer.groups();
  const PhysicalCollectBuffer* const inspected = selected();
  switch (offset) {
  case r::control: {
    r::Control control;
    control.set_enable(device_.enabled ? 1 : 0);
    return Register{control.bits};
  }
  case r::half_written_limit:
    return Register{blocks_.collect_buffer.half_written_limit(), true};
  case r::context_memory_address:
    return Register{device_.context_memory_address, true};
  case r::context_memory_bytes:
    return Register{device_.context_memory_bytes, true};
  case r::inspect_select:
    return Register{device_.inspect_select.bits};
  case r::inspect_physical_collect_buffer:
    return Register{inspect_physical_collect_buffer()};
  case r::inspect_scoreboard:
    return Register{inspected != nullptr ? inspected->scoreboard : 0, true};
  case r::inspect_scoreboard_mask:
    return Register{inspected != nullptr ? inspected->scoreboard_mask : 0, true};
  case r::inspect_received:
    return Register{inspected != nullptr ? inspected->received.low() : 0, true};
  case r::inspect_received_high:
    return Register{inspected != nullptr ? inspected->received.high() : 0};
  case r::inspect_virtual_collect_buffer:
    return Register{inspect_virtual_collect_buffer()};
  case r::inspect_queue_pair:
    return Register{device_.inspect_queue_pair};
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
  case r::time_wait:
    return Register{blocks_.virtual_queue_pairs.time_wait()};
  case r::numbers_in_time_wait:
    return Register{blocks_.virtual_queue_pairs.waiting()};
  case r::cancel_virtual_collect_buffer:
  case r::close_virtual_collect_buffer:
  case r::open_virtual_collect_buffer:
  case r::break_management_lock:
  case r::lane_map_invalidate:
    return Register{0};
  case r::lane_map_address:
    return Register{blocks_.lane_map_reader.address(), true};
  case r::shared_transmit_virtual_lanes:
    return Register{blocks_.virtual_kick.shared_lanes(), true};
  case r::physical_collect_buffers_shared: {
    r::PhysicalCollectBuffersShared shared;
    shared.set_total(groups.shared_total());
    shared.set_available(groups.shared_available());
    return Register{shared.bits};
  }
  case r::shared_execution_credits:
    return Register{blocks_.virtual_kick.shared_credits_free(CreditKind::execution)};
  case r::shared_completion_credits:
    return Register{blocks_.virtual_kick.shared_credits_free(CreditKind::completion)};
  default:
    break;
  }
  if (const auto found = counter(offset))
    return Register{*found, true};
  if (const auto found = port_value(offset))
    return found;
  return array(offset);
}

std::optional<uint64_t> ControlRegisters::counter(uint32_t offset) const {
  const DeviceCounters& counters = counters_.device;
  switch (offset) {
  case r::transactions:
    return counters.transactions;
  case r::writes_unclaimed:
    return counters.writes_unclaimed;
  case r::corrected_bit_errors:
    return counters.corrected_bit_errors;
  case r::detected_bit_errors:
    return counters.detected_bit_errors;
  case r::queue_pair_cache_hits:
    return counters.queue_pair_cache_hits;
  case r::queue_pair_cache_misses:
    return counters.queue_pair_cache_misses;
  default:
    return blocks_.data_unit_counts.of(offset);
  }
}

std::optional<RegisterPage::Register> ControlRegisters::array(uint32_t offset) const {
  if (const auto buffer = register_index(offset, r::dedicated_physical_collect_buffer,
                                         r::dedicated_physical_collect_buffer_count,
                                         r::dedicated_physical_collect_buffer_stride))
    return Register{dedicated_physical_collect_buffer(*buffer)};
  if (const auto function = register_index(offset, r::function_virtual_collect_buffer_bar,
                                           r::function_virtual_collect_buffer_bar_count,
                                           r::function_virtual_collect_buffer_bar_stride)) {
    const VirtualCollectBufferBar& bar = blocks_.collect_buffer.bar(*function);
    r::FunctionVirtualCollectBufferBar value;
    value.set_base(bar.base);
    value.set_count(bar.count);
    return Register{value.bits};
  }
  if (const auto function = register_index(offset, r::function_virtual_collect_buffer_sub_bar,
                                           r::function_virtual_collect_buffer_sub_bar_count,
                                           r::function_virtual_collect_buffer_sub_bar_stride)) {
    const VirtualCollectBufferBar& bar = blocks_.collect_buffer.bar(*function);
    r::FunctionVirtualCollectBufferSubBar value;
    value.set_low(bar.low);
    value.set_high(bar.high);
    return Register{value.bits};
  }
  if (const auto function = register_index(offset, r::function_physical_collect_buffers,
                                           r::function_physical_collect_buffers_count,
                                           r::function_physical_collect_buffers_stride))
    return Register{allotment(*function)};
  if (const auto entry =
          register_index(offset, r::function_transmit_virtual_lanes, r::function_transmit_virtual_lanes_count,
                         r::function_transmit_virtual_lanes_stride))
    return Register{blocks_.virtual_kick.lanes(function_of(*entry), level_of(*entry)), true};
  if (const auto lane = register_index(offset, r::lane_state, r::lane_state_count, r::lane_state_stride))
    return Register{*lane < parameters_.transmit_virtual_lanes ? blocks_.virtual_kick.lane_state(*lane).bits
                                                               : 0};
  return std::nullopt;
}

uint32_t ControlRegisters::inspect_physical_collect_buffer() const {
  const PhysicalCollectBuffer* const inspected = selected();
  if (inspected == nullptr)
    return 0;
  r::InspectPhysicalCollectBuffer value;
  value.set_state(inspected->state);
  value.set_dedicated(
      device_.inspect_select.physical_collect_buffer() >= parameters_.physical_collect_buffers ? 1 : 0);
  value.set_group(inspected->group);
  value.set_underlying_function(inspected->underlying_function);
  value.set_virtual_collect_buffer(inspected->virtual_collect_buffer);
  return value.bits;
}

uint32_t ControlRegisters::inspect_virtual_collect_buffer() const {
  const unsigned buffer = device_.inspect_select.virtual_collect_buffer();
  if (buffer >= parameters_.virtual_collect_buffers)
    return 0;
  const CollectBufferPort::Inspection inspected = blocks_.collect_buffer.inspect(buffer);
  r::InspectVirtualCollectBuffer value;
  value.set_state(inspected.state);
  value.set_refusal(inspected.refusal);
  value.set_physical_collect_buffer(inspected.physical_collect_buffer);
  return value.bits;
}

uint32_t ControlRegisters::dedicated_physical_collect_buffer(uint32_t index) const {
  if (index >= parameters_.dedicated_physical_collect_buffers)
    return 0;
  const PhysicalCollectBuffer& dedicated =
      blocks_.buffers[size_t{parameters_.physical_collect_buffers} + index];
  r::DedicatedPhysicalCollectBuffer value;
  value.set_state(dedicated.state);
  value.set_underlying_function(dedicated.underlying_function);
  return value.bits;
}

uint32_t ControlRegisters::allotment(unsigned underlying_function) const {
  const CollectAllotment allotment = blocks_.collect_buffer.groups().allotment(underlying_function);
  r::FunctionPhysicalCollectBuffers value;
  value.set_low(allotment.low);
  value.set_high(allotment.high);
  value.set_shared(allotment.shared);
  return value.bits;
}

bool ControlRegisters::set_value(uint32_t offset, uint64_t value) {
  const uint32_t low = static_cast<uint32_t>(value);
  CollectBufferPort& collect_buffer = blocks_.collect_buffer;
  // A nonexistent VCB cannot be canceled, closed or opened.
  const auto with_buffer = [&](uint32_t buffer, void (CollectBufferPort::*action)(unsigned)) {
    if (buffer >= parameters_.virtual_collect_buffers)
      return false;
    (collect_buffer.*action)(buffer);
    return true;
  };
  switch (offset) {
  case r::control:
    return set_control(r::Control{low});
  case r::half_written_limit:
    collect_buffer.set_half_written_limit(value);
    return true;
  case r::context_memory_address:
    device_.context_memory_address = value;
    return true;
  case r::context_memory_bytes:
    device_.context_memory_bytes = value;
    return true;
  case r::lane_map_address:
    return blocks_.lane_map_reader.set_address(value);
  case r::lane_map_invalidate:
    blocks_.virtual_kick.invalidate(low);
    return true;
  case r::inspect_select:
    device_.inspect_select.bits = low;
    return true;
  case r::inspect_queue_pair:
    device_.inspect_queue_pair = low;
    return true;
  case r::time_wait:
    blocks_.virtual_queue_pairs.set_time_wait(low);
    return true;
  case r::cancel_virtual_collect_buffer:
    return with_buffer(r::CancelVirtualCollectBuffer{low}.virtual_collect_buffer(),
                       &CollectBufferPort::cancel);
  case r::close_virtual_collect_buffer:
    return with_buffer(r::CloseVirtualCollectBuffer{low}.virtual_collect_buffer(), &CollectBufferPort::close);
  case r::open_virtual_collect_buffer:
    return with_buffer(r::OpenVirtualCollectBuffer{low}.virtual_collect_buffer(), &CollectBufferPort::open);
  case r::break_management_lock:
    collect_buffer.break_management_lock(
        static_cast<uint16_t>(r::BreakManagementLock{low}.physical_collect_buffer()));
    return true;
  case r::shared_transmit_virtual_lanes:
    return blocks_.virtual_kick.set_shared_lanes(value);
  default:
    return set_array(offset, value);
  }
}

// Enable requires context memory that is large enough and accessible; otherwise the device stays off. A
// device that was disabled continues with its memory.
bool ControlRegisters::set_control(r::Control control) {
  if (control.reset() != 0) {
    device_.device_reset_requested = true;
    return true;
  }
  if (control.enable() == 0) {
    device_.disabled = device_.disabled || device_.enabled;
    device_.enabled = false;
  } else if (!device_.enabled) {
    device_.enabled =
        blocks_.context_memory.open(device_.context_memory_address, device_.context_memory_bytes);
    device_.disabled = device_.disabled && !device_.enabled;
  }
  return true;
}

bool ControlRegisters::set_array(uint32_t offset, uint64_t value) {
  const uint32_t low = static_cast<uint32_t>(value);
  if (const auto done = set_port_value(offset, value))
    return *done;
  if (const auto function = register_index(offset, r::function_virtual_collect_buffer_bar,
                                           r::function_virtual_collect_buffer_bar_count,
                                           r::function_virtual_collect_buffer_bar_stride)) {
    const r::FunctionVirtualCollectBufferBar written{low};
    // All VCBs serve both levels until the sub-BAR is written.
    const VirtualCollectBufferBar bar{
        .base = written.base(), .count = written.count(), .low = 0, .high = written.count()};
    return *function < parameters_.underlying_functions && blocks_.collect_buffer.set_bar(*function, bar);
  }
  if (const auto function = register_index(offset, r::function_virtual_collect_buffer_sub_bar,
                                           r::function_virtual_collect_buffer_sub_bar_count,
                                           r::function_virtual_collect_buffer_sub_bar_stride)) {
    const r::FunctionVirtualCollectBufferSubBar written{low};
    VirtualCollectBufferBar bar = blocks_.collect_buffer.bar(*function);
    bar.low = written.low();
    bar.high = written.high();
    return *function < parameters_.underlying_functions && blocks_.collect_buffer.set_bar(*function, bar);
  }
  if (const auto function = register_index(offset, r::function_physical_collect_buffers,
                                           r::function_physical_collect_buffers_count,
                                           r::function_physical_collect_buffers_stride))
    return *function < parameters_.underlying_functions &&
           set_allotment(*function, r::FunctionPhysicalCollectBuffers{low});
  if (const auto entry =
          register_index(offset, r::function_transmit_virtual_lanes, r::function_transmit_virtual_lanes_count,
                         r::function_transmit_virtual_lanes_stride)) {
    return function_of(*entry) < parameters_.underlying_functions &&
           blocks_.virtual_kick.set_lanes(function_of(*entry), level_of(*entry), value);
  }
  return false;
}

bool ControlRegisters::set_allotment(unsigned underlying_function, r::FunctionPhysicalCollectBuffers value) {
  CollectBufferPort& collect_buffer = blocks_.collect_buffer;
  if (!collect_buffer.set_allotment(underlying_function,
                                    {.low = value.low(), .high = value.high(), .shared = value.shared()}))
    return false;
  collect_buffer.keep_guarantees();
  return true;
}

} // namespace fpga_verbs::hca
