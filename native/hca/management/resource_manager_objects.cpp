// Management commands about functions, protection domains and event queues.
#include "hca/management/management_answer.h"
#include "hca/management/resource_manager.h"

#include <array>
#include <bit>

namespace fpga_verbs::hca {

namespace {

using spec::ManagementStatus;
using spec::QualityOfServiceLevel;

uint32_t count_of(uint64_t lanes) { return static_cast<uint32_t>(std::popcount(lanes)); }

} // namespace

spec::ManagementCompletion ResourceManager::query_function(const Command& command) {
  const unsigned function = command.underlying_function;
  const CollectGroupTable& groups = blocks_.collect_buffer.groups();
  const VirtualCollectBufferBar& bar = blocks_.collect_buffer.bar(function);
  constexpr uint32_t acknowledge_delay = 15; // 134 ms: a thread that waits for its CPU
  spec::QueryFunctionOutput facts;
  facts.set_target_ack_delay(acknowledge_delay);
  facts.set_underlying_function(function);
  facts.set_event_queues(spec::event_queues_per_function);
  facts.set_queue_pairs(parameters_.queue_pairs - QueuePairStateCache::reserved_indices);
  facts.set_completion_queues(parameters_.completion_queues - CompletionQueue::reserved_numbers);
  facts.set_memory_keys(parameters_.memory_keys - KeyTable::reserved_indices);
  facts.set_queue_entries_maximum(spec::queue_entries_maximum);
  facts.set_virtual_collect_buffer_base(bar.base);
  facts.set_virtual_collect_buffer_count(bar.count);
  facts.set_physical_collect_buffers(groups.total(function, spec::CollectGroup::low) +
                                     groups.total(function, spec::CollectGroup::high) +
                                     groups.total(function, spec::CollectGroup::function_shared));
  facts.set_transmit_virtual_lanes(
      count_of(blocks_.virtual_kick.lanes(function, QualityOfServiceLevel::low) |
               blocks_.virtual_kick.lanes(function, QualityOfServiceLevel::high)));
  facts.set_context_memory_needed(
      static_cast<uint32_t>(blocks_.context_memory.bytes_needed() / spec::page_bytes));
  return output(command, &facts, sizeof facts);
}

spec::ManagementCompletion ResourceManager::create_protection_domain(const Command& command) {
  const std::optional<uint32_t> created = protection_domains_.create(command.underlying_function);
  return created ? succeed(*created) : no_resources(spec::Resource::protection_domains, 1, 0);
}

spec::ManagementCompletion ResourceManager::destroy_protection_domain(const Command& command) {
  const unsigned function = command.underlying_function;
  const uint32_t domain = command.fields.input_modifier();
  if (!protection_domains_.exists(function, domain))
    return answer_with(ManagementStatus::bad_object);
  if (protection_domains_.users(function, domain) != 0)
    return answer_with(ManagementStatus::in_use);
  protection_domains_.destroy(function, domain);
  return succeed();
}

// Event queues.

spec::ManagementCompletion ResourceManager::create_event_queue(const Command& command) {
  using F = spec::CreateEventQueueInput;
  const unsigned function = command.underlying_function;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (input.event_queue() >= spec::event_queues_per_function)
    return bad_input(F::event_queue_bit);
  if (input.entries_log2() < EventQueue::smallest_entries_log2 ||
      input.entries_log2() > EventQueue::largest_entries_log2)
    return bad_input(F::entries_log2_bit);
  if (input.pages() != EventQueue::pages(input.entries_log2()))
    return bad_input(F::pages_bit);
  if (input.head_address() % spec::RingHead::bytes != 0)
    return bad_input(F::head_address_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  if (command.fields.input_length() != F::bytes + input.pages() * spec::PageTableEntry::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  std::array lists{PageList{.pages = input.pages()}};
  if (const auto failed = create_tables(function, reader, F::bytes, lists))
    return *failed;
  const ManagementStatus status = blocks_.event_queue.create(function, input, lists[0].table);
  if (status != ManagementStatus::success) {
    destroy_tables(lists);
    return answer_with(status);
  }
  return succeed(input.event_queue());
}

spec::ManagementCompletion ResourceManager::destroy_event_queue(const Command& command) {
  const std::optional<uint32_t> table =
      blocks_.event_queue.destroy(command.underlying_function, command.fields.input_modifier());
  if (!table)
    return answer_with(ManagementStatus::bad_object);
  blocks_.memory_translation.destroy_table(*table);
  return succeed();
}

} // namespace fpga_verbs::hca
