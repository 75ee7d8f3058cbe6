// Management commands about the division of VCBs, PCBs, TVLs, credits and entries.
#include "hca/management/management_answer.h"
#include "hca/management/resource_division.h"
#include "hca/management/resource_manager.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

namespace fpga_verbs::hca {

namespace {

using spec::CollectGroup;
using spec::ManagementStatus;
using spec::QualityOfServiceLevel;
using spec::Resource;
using Entry = spec::ResourceAllocationRequest;

// Subject of query_resources, in the input modifier: a function, the shared pool, or a lane.
constexpr uint32_t first_lane_modifier = spec::shared_by_functions + 1;

uint32_t count_of(uint64_t lanes) { return static_cast<uint32_t>(std::popcount(lanes)); }

spec::ManagementCompletion answer_of(const DivisionRefusal& refusal) {
  switch (refusal.status) {
  case ManagementStatus::bad_parameter:
    return bad_input(refusal.bit);
  case ManagementStatus::no_resources:
    return no_resources(refusal.resource, refusal.asked, refusal.left);
  default:
    return answer_with(refusal.status);
  }
}

// Entries of an answer, in the form of the requests that would produce them.
class Shares {
public:
  explicit Shares(uint32_t underlying_function) : underlying_function_(underlying_function) {}

  Entry& add(Resource resource, uint32_t amount, uint64_t which = 0) {
    Entry& entry = entries_.emplace_back();
    entry.set_resource(resource);
    entry.set_underlying_function(underlying_function_);
    entry.set_amount(amount);
    entry.set_which(which);
    return entry;
  }

  void add(QualityOfServiceLevel level, Resource resource, uint32_t amount, uint64_t which = 0) {
    Entry& entry = add(resource, amount, which);
    entry.set_for_level(1);
    entry.set_quality_of_service_level(level);
  }

  std::span<const Entry> entries() const { return entries_; }

private:
  uint32_t underlying_function_;
  std::vector<Entry> entries_;
};

} // namespace

ResourceDivision ResourceManager::division() const {
  const CollectBufferPort& collect_buffer = blocks_.collect_buffer;
  const VirtualKickPort& virtual_kick = blocks_.virtual_kick;
  ResourceDivision division{.underlying_functions = parameters_.underlying_functions,
                            .virtual_collect_buffers = parameters_.virtual_collect_buffers,
                            .list_entries = parameters_.physical_collect_buffers +
                                            parameters_.dedicated_physical_collect_buffers,
                            .transmit_virtual_lanes = parameters_.transmit_virtual_lanes,
                            .functions = {},
                            .shared_physical_collect_buffers = collect_buffer.groups().shared_total(),
                            .lane_map = virtual_kick.map(),
                            .lanes = {},
                            .shared_execution_credits = virtual_kick.shared_credits(CreditKind::execution),
                            .shared_completion_credits = virtual_kick.shared_credits(CreditKind::completion)};
  for (unsigned function = 0; function < division.underlying_functions; ++function)
    division.functions[function] = {.bar = collect_buffer.bar(function),
                                    .physical_collect_buffers = collect_buffer.groups().allotment(function),
                                    .entry_credits = virtual_kick.entry_credits(function)};
  for (unsigned lane = 0; lane < division.transmit_virtual_lanes; ++lane)
    division.lanes[lane] = {.execution = virtual_kick.credit_division(CreditKind::execution, lane),
                            .completion = virtual_kick.credit_division(CreditKind::completion, lane),
                            .list_size = virtual_kick.list_size(lane)};
  return division;
}

void ResourceManager::divide(const ResourceDivision& division) {
  std::array<VirtualCollectBufferBar, spec::underlying_functions> bars{};
  for (unsigned function = 0; function < division.underlying_functions; ++function) {
    bars[function] = division.functions[function].bar;
    blocks_.virtual_kick.set_entry_credits(function, division.functions[function].entry_credits);
  }
  blocks_.collect_buffer.set_bars(bars);
  // Functions that get fewer PCBs come first, so that enough are free for the others.
  CollectBufferPort& collect_buffer = blocks_.collect_buffer;
  const auto sum = [](const CollectAllotment& each) { return each.low + each.high + each.shared; };
  for (const bool shrinks : {true, false})
    for (unsigned function = 0; function < division.underlying_functions; ++function) {
      const CollectAllotment& wanted = division.functions[function].physical_collect_buffers;
      if ((sum(wanted) <= sum(collect_buffer.groups().allotment(function))) == shrinks)
        collect_buffer.set_allotment(function, wanted);
    }
  collect_buffer.keep_guarantees();
  blocks_.virtual_kick.set_map(division.lane_map);
  blocks_.virtual_kick.set_shared_credits(CreditKind::execution, division.shared_execution_credits);
  blocks_.virtual_kick.set_shared_credits(CreditKind::completion, division.shared_completion_credits);
  for (unsigned lane = 0; lane < division.transmit_virtual_lanes; ++lane) {
    const ResourceDivision::Lane& each = division.lanes[lane];
    blocks_.virtual_kick.divide_credits(CreditKind::execution, lane, each.execution);
    blocks_.virtual_kick.divide_credits(CreditKind::completion, lane, each.completion);
    blocks_.virtual_kick.set_list_size(lane, each.list_size);
  }
  blocks_.virtual_kick.notice_division();
}

void ResourceManager::report_changes(const ResourceDivision& before, const ResourceDivision& after,
                                     unsigned requester) {
  const auto report = [&](unsigned function, Resource resource) {
    spec::EventUnit event;
    event.set_type(spec::EventType::resources_changed);
    event.set_underlying_function(function);
    event.set_object(static_cast<uint32_t>(resource));
    blocks_.event_queue.report(event);
  };
  for (unsigned function = 0; function < after.underlying_functions; ++function) {
    const ResourceDivision::Function& had = before.functions[function];
    const ResourceDivision::Function& has = after.functions[function];
    if (had.bar != has.bar)
      report(function, Resource::virtual_collect_buffers);
    if (function == requester)
      continue;
    if (had.physical_collect_buffers != has.physical_collect_buffers)
      report(function, Resource::physical_collect_buffers);
    if (before.lane_map.functions[function] != after.lane_map.functions[function])
      report(function, Resource::transmit_virtual_lanes);
    if (had.entry_credits != has.entry_credits)
      report(function, Resource::entry_credits);
  }
}

spec::ManagementCompletion ResourceManager::allocate_resources(const Command& command) {
  const uint32_t bytes = command.fields.input_length();
  if (bytes == 0 || bytes % Entry::bytes != 0 || bytes / Entry::bytes > spec::resource_allocation_requests)
    return bad_command(spec::ManagementCommand::input_length_bit);
  std::vector<Entry> requests(bytes / Entry::bytes);
  MailboxReader reader(host_, command.underlying_function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, requests.data(), bytes))
    return *failed;
  const ResourceDivision before = division();
  ResourceDivision after = before;
  if (const auto refused = allocate(after, command.underlying_function, requests))
    return answer_of(*refused);
  divide(after);
  report_changes(before, after, command.underlying_function);
  return succeed();
}

spec::ManagementCompletion ResourceManager::query_resources(const Command& command) {
  const uint32_t modifier = command.fields.input_modifier();
  const bool controls = command.underlying_function == 0;
  if (modifier >= first_lane_modifier) {
    const uint32_t lane = modifier - first_lane_modifier;
    if (lane >= parameters_.transmit_virtual_lanes)
      return bad_command(spec::ManagementCommand::input_modifier_bit);
    if (!controls && (blocks_.virtual_kick.map().lanes(command.underlying_function) >> lane & 1) == 0)
      return answer_with(ManagementStatus::not_permitted);
    return query_lane(command, lane);
  }
  if (modifier == spec::shared_by_functions)
    return query_shared(command);
  if (modifier >= parameters_.underlying_functions)
    return bad_command(spec::ManagementCommand::input_modifier_bit);
  if (!controls && modifier != command.underlying_function)
    return answer_with(ManagementStatus::not_permitted);
  return query_share(command, modifier);
}

// Share of a function; the shares of its levels have entries of their own.
spec::ManagementCompletion ResourceManager::query_share(const Command& command, unsigned function) {
  using enum Resource;
  const ResourceDivision divided = division();
  const VirtualCollectBufferBar& bar = divided.functions[function].bar;
  const CollectAllotment& buffers = divided.functions[function].physical_collect_buffers;
  const LaneMap::Levels& levels = divided.lane_map.functions[function];
  const std::array alone{levels[0] & ~levels[1], levels[1] & ~levels[0]};
  constexpr auto low = QualityOfServiceLevel::low;
  constexpr auto high = QualityOfServiceLevel::high;
  Shares shares(function);
  shares.add(virtual_collect_buffers, bar.count, bar.base);
  shares.add(low, virtual_collect_buffers, bar.low, bar.base);
  shares.add(high, virtual_collect_buffers, bar.count - bar.high, bar.base + bar.high);
  shares.add(physical_collect_buffers, buffers.low + buffers.high + buffers.shared);
  shares.add(low, physical_collect_buffers, buffers.low);
  shares.add(high, physical_collect_buffers, buffers.high);
  shares.add(transmit_virtual_lanes, count_of(levels[0] | levels[1]), levels[0] | levels[1]);
  shares.add(low, transmit_virtual_lanes, count_of(alone[0]), alone[0]);
  shares.add(high, transmit_virtual_lanes, count_of(alone[1]), alone[1]);
  shares.add(entry_credits, divided.functions[function].entry_credits);
  shares.add(queue_pairs, parameters_.queue_pairs - QueuePairStateCache::reserved_indices);
  shares.add(completion_queues, parameters_.completion_queues - CompletionQueue::reserved_numbers);
  shares.add(memory_keys, parameters_.memory_keys - KeyTable::reserved_indices);
  shares.add(event_queues, spec::event_queues_per_function);
  shares.add(address_handles, spec::address_handles - AddressHandles::reserved_indices);
  shares.add(shared_receive_queues, spec::shared_receive_queues - SharedReceiveQueues::reserved_indices);
  shares.add(multicast_members, spec::multicast_members);
  shares.add(protection_domains, ProtectionDomains::per_function);
  return output(command, shares.entries().data(), static_cast<uint32_t>(shares.entries().size_bytes()));
}

// Resources of no function: the shared ones, and VCBs without an owner.
spec::ManagementCompletion ResourceManager::query_shared(const Command& command) {
  using enum Resource;
  const ResourceDivision divided = division();
  uint32_t owned = 0;
  for (const ResourceDivision::Function& function : divided.functions)
    owned += function.bar.count;
  Shares shares(spec::shared_by_functions);
  shares.add(virtual_collect_buffers, divided.virtual_collect_buffers - owned);
  shares.add(physical_collect_buffers, divided.shared_physical_collect_buffers);
  shares.add(transmit_virtual_lanes, count_of(divided.lane_map.shared), divided.lane_map.shared);
  shares.add(execution_credits, divided.shared_execution_credits);
  shares.add(completion_credits, divided.shared_completion_credits);
  return output(command, shares.entries().data(), static_cast<uint32_t>(shares.entries().size_bytes()));
}

spec::ManagementCompletion ResourceManager::query_lane(const Command& command, unsigned lane) {
  using enum Resource;
  const ResourceDivision divided = division();
  const ResourceDivision::Lane& values = divided.lanes[lane];
  const auto share = [lane](Resource resource, uint32_t amount) {
    Entry entry;
    entry.set_resource(resource);
    entry.set_for_lane(1);
    entry.set_transmit_virtual_lane(lane);
    entry.set_amount(amount);
    return entry;
  };
  const std::array shares{share(execution_credits, values.execution.own),
                          share(execution_credits_cap, values.execution.shared_cap),
                          share(completion_credits, values.completion.own),
                          share(completion_credits_cap, values.completion.shared_cap),
                          share(list_size, values.list_size)};
  return output(command, shares.data(), sizeof shares);
}

} // namespace fpga_verbs::hca
