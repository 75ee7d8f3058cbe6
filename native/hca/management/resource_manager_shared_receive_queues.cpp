// Management commands about shared receive queues.
#include "hca/base/queue_sizes.h"
#include "hca/management/management_answer.h"
#include "hca/management/resource_manager.h"

#include <array>

namespace fpga_verbs::hca {

namespace {

using spec::ManagementStatus;

// Refusal of the input of create_shared_receive_queue.
std::optional<spec::ManagementCompletion> check_create(const spec::CreateSharedReceiveQueueInput& input) {
  using F = spec::CreateSharedReceiveQueueInput;
  if (input.queue_log2() > queue_log2_maximum)
    return bad_input(F::queue_log2_bit);
  if (input.queue_pages() != reference_pages(input.queue_log2()))
    return bad_input(F::queue_pages_bit);
  if (input.entry_pages() == 0)
    return bad_input(F::entry_pages_bit);
  if (input.limit() > uint32_t{1} << input.queue_log2())
    return bad_input(F::limit_bit);
  if (input.tail_address() % spec::ReceiveQueueTail::bytes != 0)
    return bad_input(F::tail_address_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  return std::nullopt;
}

// Refusal of the input of modify_shared_receive_queue. A queue only grows: posted receives keep their places.
std::optional<spec::ManagementCompletion> check_modify(const spec::SharedReceiveQueueAttributes& input,
                                                       const SharedReceiveQueue& queue) {
  using F = spec::SharedReceiveQueueAttributes;
  F known;
  known.set_limit(input.limit());
  known.set_keep_limit(input.keep_limit());
  if (input.entry_pages() != 0) {
    known.set_entry_pages(input.entry_pages());
    known.set_queue_log2(input.queue_log2());
    if (input.queue_log2() < queue.queue_log2 || input.queue_log2() > queue_log2_maximum)
      return bad_input(F::queue_log2_bit);
    if (input.entry_pages() * spec::page_bytes < queue.entry_bytes)
      return bad_input(F::entry_pages_bit);
  }
  const uint32_t queue_log2 = input.entry_pages() != 0 ? input.queue_log2() : queue.queue_log2;
  if (input.limit() > (input.keep_limit() != 0 ? 0 : uint32_t{1} << queue_log2))
    return bad_input(F::limit_bit);
  return input == known ? std::nullopt : std::optional(bad_input(reserved_field));
}

} // namespace

spec::ManagementCompletion ResourceManager::create_shared_receive_queue(const Command& command) {
  using F = spec::CreateSharedReceiveQueueInput;
  const unsigned function = command.underlying_function;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (const auto wrong = check_create(input))
    return *wrong;
  std::array lists{PageList{.pages = input.queue_pages()}, PageList{.pages = input.entry_pages()}};
  const uint32_t pages = input.queue_pages() + input.entry_pages();
  if (command.fields.input_length() != F::bytes + pages * spec::PageTableEntry::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  if (!protection_domains_.exists(function, input.protection_domain()))
    return answer_with(ManagementStatus::bad_object);
  if (const auto failed = create_tables(function, reader, F::bytes, lists))
    return *failed;
  SharedReceiveQueues& queues = blocks_.shared_receive_queues;
  const std::optional<uint32_t> created =
      queues.create(function, {.protection_domain = input.protection_domain(),
                               .queue_log2 = input.queue_log2(),
                               .queue_pages = lists[0].table,
                               .entry_pages = lists[1].table,
                               .entry_bytes = input.entry_pages() * spec::page_bytes,
                               .tail_address = input.tail_address()});
  if (!created) {
    destroy_tables(lists);
    return no_resources(spec::Resource::shared_receive_queues, 1, 0);
  }
  protection_domains_.add_user(function, input.protection_domain());
  if (input.limit() != 0)
    queues.arm(function, *created, static_cast<uint16_t>(input.limit()));
  return succeed(*created);
}

spec::ManagementCompletion ResourceManager::modify_shared_receive_queue(const Command& command) {
  using F = spec::SharedReceiveQueueAttributes;
  const unsigned function = command.underlying_function;
  const uint32_t number = command.fields.input_modifier();
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  const bool is_larger = input.entry_pages() != 0;
  const uint32_t queue_pages = is_larger ? reference_pages(input.queue_log2()) : 0;
  const uint32_t pages = queue_pages + input.entry_pages();
  if (command.fields.input_length() != F::bytes + pages * spec::PageTableEntry::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  SharedReceiveQueues& queues = blocks_.shared_receive_queues;
  SharedReceiveQueue* const queue = queues.find(function, number);
  if (queue == nullptr)
    return answer_with(ManagementStatus::bad_object);
  if (queue->failure != spec::Refusal::none)
    return answer_with(ManagementStatus::bad_state);
  if (const auto wrong = check_modify(input, *queue))
    return *wrong;
  if (is_larger) {
    std::array lists{PageList{.pages = queue_pages}, PageList{.pages = input.entry_pages()}};
    if (const auto failed = create_tables(function, reader, F::bytes, lists))
      return *failed;
    const std::array former{PageList{.table = queue->queue_pages}, PageList{.table = queue->entry_pages}};
    destroy_tables(former);
    queue->queue_log2 = input.queue_log2();
    queue->queue_pages = lists[0].table;
    queue->entry_pages = lists[1].table;
    queue->entry_bytes = input.entry_pages() * spec::page_bytes;
    queue->prefetched = 0;
  }
  if (input.keep_limit() == 0)
    queues.arm(function, number, static_cast<uint16_t>(input.limit()));
  return succeed();
}

spec::ManagementCompletion ResourceManager::query_shared_receive_queue(const Command& command) {
  const SharedReceiveQueue* const queue =
      blocks_.shared_receive_queues.find(command.underlying_function, command.fields.input_modifier());
  if (queue == nullptr)
    return answer_with(ManagementStatus::bad_object);
  spec::SharedReceiveQueueAttributes attributes;
  attributes.set_limit(queue->limit);
  attributes.set_queue_log2(queue->queue_log2);
  attributes.set_failed(queue->failure != spec::Refusal::none ? 1 : 0);
  attributes.set_queue_pairs(queue->queue_pairs);
  return output(command, &attributes, sizeof attributes);
}

spec::ManagementCompletion ResourceManager::destroy_shared_receive_queue(const Command& command) {
  const unsigned function = command.underlying_function;
  const uint32_t number = command.fields.input_modifier();
  SharedReceiveQueues& queues = blocks_.shared_receive_queues;
  const SharedReceiveQueue* const queue = queues.find(function, number);
  if (queue == nullptr)
    return answer_with(ManagementStatus::bad_object);
  if (queue->queue_pairs != 0)
    return answer_with(ManagementStatus::in_use);
  const std::array lists{PageList{.table = queue->queue_pages}, PageList{.table = queue->entry_pages}};
  destroy_tables(lists);
  protection_domains_.remove_user(function, queue->protection_domain);
  queues.destroy(number);
  return succeed();
}

} // namespace fpga_verbs::hca
