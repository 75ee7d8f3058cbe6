// Management commands about completion queues, and their users.
#include "hca/management/management_answer.h"
#include "hca/management/resource_manager.h"

#include <array>
#include <utility>

namespace fpga_verbs::hca {

namespace {

using spec::ManagementStatus;

// Refusal of the input of create_completion_queue.
std::optional<spec::ManagementCompletion> check_create(const spec::CreateCompletionQueueInput& input) {
  using F = spec::CreateCompletionQueueInput;
  if (input.event_queue() >= spec::event_queues_per_function)
    return bad_input(F::event_queue_bit);
  if (input.entries_log2() > CompletionQueue::largest_entries_log2)
    return bad_input(F::entries_log2_bit);
  if (input.pages() != CompletionQueue::pages(input.entries_log2(), input.variable() != 0))
    return bad_input(F::pages_bit);
  if (input.head_address() % spec::RingHead::bytes != 0)
    return bad_input(F::head_address_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  return std::nullopt;
}

} // namespace

spec::ManagementCompletion ResourceManager::create_completion_queue(const Command& command) {
  using F = spec::CreateCompletionQueueInput;
  const unsigned function = command.underlying_function;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (const auto wrong = check_create(input))
    return *wrong;
  if (command.fields.input_length() != F::bytes + input.pages() * spec::PageTableEntry::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  std::array lists{PageList{.pages = input.pages()}};
  if (const auto failed = create_tables(function, reader, F::bytes, lists))
    return *failed;
  const std::optional<uint32_t> created = blocks_.completion_queue.create(function, input, lists[0].table);
  if (!created) {
    destroy_tables(lists);
    return no_resources(spec::Resource::completion_queues, 1, 0);
  }
  return succeed(*created);
}

spec::ManagementCompletion ResourceManager::resize_completion_queue(const Command& command) {
  using F = spec::ResizeCompletionQueueInput;
  const unsigned function = command.underlying_function;
  const uint32_t number = command.fields.input_modifier();
  CompletionQueue& completion_queues = blocks_.completion_queue;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (!completion_queues.exists(function, number))
    return answer_with(ManagementStatus::bad_object);
  if (input.entries_log2() > CompletionQueue::largest_entries_log2)
    return bad_input(F::entries_log2_bit);
  if (input.pages() != CompletionQueue::pages(input.entries_log2(), completion_queues.is_variable(number)))
    return bad_input(F::pages_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  if (command.fields.input_length() != F::bytes + input.pages() * spec::PageTableEntry::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  std::array lists{PageList{.pages = input.pages()}};
  if (const auto failed = create_tables(function, reader, F::bytes, lists))
    return *failed;
  const ManagementStatus status = completion_queues.resize(number, input.entries_log2(), lists[0].table);
  destroy_tables(lists);
  if (status == ManagementStatus::bad_parameter)
    return bad_input(F::entries_log2_bit);
  return status == ManagementStatus::success ? succeed(completion_queues.tail(number)) : answer_with(status);
}

spec::ManagementCompletion ResourceManager::moderate_completion_queue(const Command& command) {
  using F = spec::ModerateCompletionQueueInput;
  const uint32_t number = command.fields.input_modifier();
  F input;
  MailboxReader reader(host_, command.underlying_function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (command.fields.input_length() != F::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  if (!blocks_.completion_queue.exists(command.underlying_function, number))
    return answer_with(ManagementStatus::bad_object);
  blocks_.completion_queue.moderate(number, input.count(), input.period());
  return succeed();
}

spec::ManagementCompletion ResourceManager::destroy_completion_queue(const Command& command) {
  CompletionQueue& completion_queues = blocks_.completion_queue;
  const uint32_t number = command.fields.input_modifier();
  if (!completion_queues.exists(command.underlying_function, number))
    return answer_with(ManagementStatus::bad_object);
  if (completion_queues.users(number) != 0)
    return answer_with(ManagementStatus::in_use);
  blocks_.memory_translation.destroy_table(completion_queues.destroy(number));
  return succeed();
}

std::optional<spec::ManagementCompletion>
ResourceManager::check_completion_queues(unsigned underlying_function,
                                         const spec::CreateQueuePairInput& input) const {
  using F = spec::CreateQueuePairInput;
  const CompletionQueue& completion_queues = blocks_.completion_queue;
  for (const auto& [number, bit] :
       {std::pair{input.send_completion_queue(), F::send_completion_queue_bit},
        std::pair{input.receive_completion_queue(), F::receive_completion_queue_bit}}) {
    if (number == 0)
      continue;
    if (!completion_queues.exists(underlying_function, number))
      return bad_input(bit);
    if (completion_queues.is_in_error(number))
      return answer_with(ManagementStatus::bad_state);
  }
  return std::nullopt;
}

void ResourceManager::add_completion_queue_users(const spec::QueuePairControl& control) {
  for (const uint32_t number : {control.send_completion_queue(), control.receive_completion_queue()})
    if (number != 0)
      blocks_.completion_queue.add_user(number);
}

void ResourceManager::remove_completion_queue_users(const spec::QueuePairControl& control) {
  for (const uint32_t number : {control.send_completion_queue(), control.receive_completion_queue()})
    if (number != 0)
      blocks_.completion_queue.remove_user(number);
}

} // namespace fpga_verbs::hca
