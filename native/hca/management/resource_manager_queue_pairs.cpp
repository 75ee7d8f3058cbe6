// Management commands about queue pairs.
#include "hca/base/queue_sizes.h"
#include "hca/management/management_answer.h"
#include "hca/management/queue_pair_attributes.h"
#include "hca/management/resource_manager.h"
#include "hca/queue_pair/address_vector.h"
#include "hca/queue_pair/queue_pair_transitions.h"

#include <algorithm>
#include <array>

namespace fpga_verbs::hca {

namespace {

using spec::ManagementStatus;
using spec::QueuePairAttribute;
using spec::QueuePairState;

// Refusal of the input of create_queue_pair; a receive queue without pages does not exist.
std::optional<spec::ManagementCompletion> check_create(const spec::CreateQueuePairInput& input) {
  using F = spec::CreateQueuePairInput;
  const spec::ServiceType service = input.service_type();
  if (service != spec::ServiceType::reliable_connection &&
      service != spec::ServiceType::unreliable_connection &&
      service != spec::ServiceType::unreliable_datagram)
    return bad_input(F::service_type_bit);
  if (static_cast<unsigned>(input.quality_of_service_level()) >= spec::quality_of_service_levels)
    return bad_input(F::quality_of_service_level_bit);
  if (input.send_queue_log2() > queue_log2_maximum)
    return bad_input(F::send_queue_log2_bit);
  if (input.receive_queue_log2() > queue_log2_maximum)
    return bad_input(F::receive_queue_log2_bit);
  if (input.send_queue_pages() != reference_pages(input.send_queue_log2()))
    return bad_input(F::send_queue_pages_bit);
  if (input.send_entry_pages() == 0)
    return bad_input(F::send_entry_pages_bit);
  const bool has_receive_queue = input.receive_queue_pages() != 0 || input.receive_entry_pages() != 0;
  if (has_receive_queue && input.shared_receive_queue() != 0)
    return bad_input(F::shared_receive_queue_bit);
  if (has_receive_queue && input.receive_queue_pages() != reference_pages(input.receive_queue_log2()))
    return bad_input(F::receive_queue_pages_bit);
  if (has_receive_queue && input.receive_entry_pages() == 0)
    return bad_input(F::receive_entry_pages_bit);
  if (input.receive_tail_address() % spec::RingHead::bytes != 0)
    return bad_input(F::receive_tail_address_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  return std::nullopt;
}

spec::QueuePairControl control_of(const spec::CreateQueuePairInput& input) {
  spec::QueuePairControl control;
  control.set_service_type(input.service_type());
  control.set_quality_of_service_level(input.quality_of_service_level());
  control.set_signal_all(input.signal_all());
  control.set_protection_domain(input.protection_domain());
  control.set_send_completion_queue(input.send_completion_queue());
  control.set_receive_completion_queue(input.receive_completion_queue());
  control.set_shared_receive_queue(input.shared_receive_queue());
  control.set_send_queue_log2(input.send_queue_log2());
  control.set_receive_queue_log2(input.receive_queue_log2());
  control.set_checksum_secret(input.checksum_secret());
  control.set_send_entry_bytes(input.send_entry_pages() * spec::page_bytes);
  control.set_receive_entry_bytes(input.receive_entry_pages() * spec::page_bytes);
  control.set_receive_tail_address(input.receive_tail_address());
  control.set_user_handle(input.user_handle());
  return control;
}

} // namespace

spec::ManagementCompletion ResourceManager::create_queue_pair(const Command& command) {
  using F = spec::CreateQueuePairInput;
  const unsigned function = command.underlying_function;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (const auto wrong = check_create(input))
    return *wrong;
  std::array lists{PageList{.pages = input.send_queue_pages()}, PageList{.pages = input.send_entry_pages()},
                   PageList{.pages = input.receive_queue_pages()},
                   PageList{.pages = input.receive_entry_pages()}};
  uint32_t pages = 0;
  for (const PageList& list : lists)
    pages += list.pages;
  if (command.fields.input_length() != F::bytes + pages * spec::PageTableEntry::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  if (!protection_domains_.exists(function, input.protection_domain()))
    return answer_with(ManagementStatus::bad_object);
  if (const auto wrong = check_completion_queues(function, input))
    return *wrong;
  SharedReceiveQueue* const shared =
      blocks_.shared_receive_queues.find(function, input.shared_receive_queue());
  if (input.shared_receive_queue() != 0 && shared == nullptr)
    return bad_input(F::shared_receive_queue_bit);
  QueuePairStateCache& queue_pairs = blocks_.queue_pair_state_cache;
  if (queue_pairs.queue_pairs_free() == 0)
    return no_resources(spec::Resource::queue_pairs, 1, 0);
  VirtualQueuePairs& numbers = blocks_.virtual_queue_pairs;
  if (!queue_pairs.choose_number([&numbers](uint32_t number) { return numbers.can_give(number); }))
    return all_numbers_wait();
  if (const auto failed = create_tables(function, reader, F::bytes, lists))
    return *failed;
  spec::QueuePairControl control = control_of(input);
  control.set_send_queue_pages(lists[0].table);
  control.set_send_entry_pages(lists[1].table);
  control.set_receive_queue_pages(lists[2].table);
  control.set_receive_entry_pages(lists[3].table);
  const std::optional<uint32_t> created = queue_pairs.create(function, control);
  if (!created) {
    destroy_tables(lists);
    return answer_with(ManagementStatus::context_memory_fault);
  }
  numbers.give(*created, function, *created);
  numbers.describe(*created, control);
  if (!is_connection(control))
    numbers.bind(*created); // for its life
  protection_domains_.add_user(function, input.protection_domain());
  add_completion_queue_users(control);
  if (shared != nullptr)
    ++shared->queue_pairs;
  return succeed(*created);
}

std::optional<spec::ManagementCompletion> ResourceManager::modify_queue_pair(const Command& command) {
  using F = spec::QueuePairAttributes;
  const unsigned function = command.underlying_function;
  const uint32_t number = command.fields.input_modifier();
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return failed;
  if (command.fields.input_length() != F::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  const QueuePairStateCache::Found found = blocks_.queue_pair_state_cache.find(function, number);
  if (!found)
    return not_found(found.absence);
  const spec::QueuePairControl& control = found->control;
  if (control.destroying() != 0)
    return answer_with(ManagementStatus::bad_state);
  if (const auto wrong = check_attributes(control, input, parameters_))
    return wrong;

  QueuePairParts& queue_pair = *blocks_.queue_pair_state_cache.parts(function, number);
  const QueuePairAttributeSet given(input.attribute_mask());
  const QueuePairState from = queue_pair.control.state();
  const QueuePairState to = given.has(QueuePairAttribute::state) ? input.state() : from;
  const bool is_bound = is_connection(queue_pair.control) && from == QueuePairState::init &&
                        to == QueuePairState::ready_to_receive;
  if (is_bound && blocks_.virtual_queue_pairs.earliest_bind(queue_pair.control.virtual_queue_pair(),
                                                            read_address_vector(input.address_vector())) != 0)
    return wait_for_number(command, queue_pair.control, input);
  if (given.has(QueuePairAttribute::new_number))
    if (const auto none = change_number(queue_pair.control, number))
      return none;
  apply_attributes(input, queue_pair);
  blocks_.packet_templates.forget(number);
  if (to == QueuePairState::reset) {
    wait_until_quiet(command);
    return std::nullopt;
  }
  if (to == QueuePairState::error)
    blocks_.queue_pair_state_cache.enter_error(function, number);
  else
    queue_pair.control.set_state(to);
  blocks_.virtual_queue_pairs.describe(queue_pair.control.virtual_queue_pair(), queue_pair.control);
  if (is_bound)
    blocks_.virtual_queue_pairs.bind(queue_pair.control.virtual_queue_pair());
  if (from == QueuePairState::send_queue_error)
    queue_pair.control.set_send_error(0);
  if (from != to)
    enter_state(command, queue_pair.control,
                given.has(QueuePairAttribute::drained_event) && input.drained_event() != 0);
  return succeed();
}

// Starts the work of a new state.
void ResourceManager::enter_state(const Command& command, spec::QueuePairControl& control,
                                  bool drained_event) {
  const uint32_t number = command.fields.input_modifier();
  const QueuePairState to = control.state();
  const bool is_draining = to == QueuePairState::send_queue_drained;
  control.set_draining(is_draining ? 1 : 0);
  control.set_drained_event(is_draining && drained_event ? 1 : 0);
  if (is_draining) {
    blocks_.queue_pair_state_cache.watch(number);
    blocks_.waiting_for_room.release(number);
  }
  if (to == QueuePairState::ready_to_send)
    resumed_ = Resumed{.underlying_function = command.underlying_function, .queue_pair_number = number};
}

spec::ManagementCompletion ResourceManager::query_queue_pair(const Command& command) {
  const uint32_t number = command.fields.input_modifier();
  QueuePairStateCache& queue_pairs = blocks_.queue_pair_state_cache;
  const QueuePairStateCache::Found found = queue_pairs.find(command.underlying_function, number);
  if (!found)
    return not_found(found.absence);
  const spec::QueuePairAttributes attributes = attributes_of(*found, queue_pairs.pins(number));
  return output(command, &attributes, sizeof attributes);
}

std::optional<spec::ManagementCompletion> ResourceManager::destroy_queue_pair(const Command& command) {
  const QueuePairStateCache::Found found =
      blocks_.queue_pair_state_cache.find(command.underlying_function, command.fields.input_modifier());
  if (!found)
    return not_found(found.absence);
  if (found->control.destroying() != 0)
    return answer_with(ManagementStatus::bad_state);
  wait_until_quiet(command);
  return std::nullopt;
}

void ResourceManager::wait_until_quiet(const Command& command) {
  const uint32_t number = command.fields.input_modifier();
  QueuePairStateCache& queue_pairs = blocks_.queue_pair_state_cache;
  spec::QueuePairControl& control = queue_pairs.parts(command.underlying_function, number)->control;
  control.set_destroying(1);
  blocks_.virtual_queue_pairs.end(control.virtual_queue_pair(),
                                  command.fields.opcode() == spec::ManagementOpcode::destroy_queue_pair
                                      ? VirtualQueuePairs::Keep::no
                                      : VirtualQueuePairs::Keep::yes);
  waiting_.push_back({.queue_pair_number = number, .command = command});
  queue_pairs.quiesce(number);
  blocks_.virtual_kick.drop(number);
}

// The message in progress never ends now: the work request that it took from a shared receive queue completes
// as flushed.
void ResourceManager::end_shared_receive(unsigned underlying_function, uint32_t queue_pair_number) {
  const auto found = blocks_.queue_pair_state_cache.find(underlying_function, queue_pair_number);
  if (!found || found->control.shared_receive_queue() == 0 || found->responder.receive_open() == 0)
    return;
  const spec::QueuePairControl& control = found->control;
  spec::CompletionQueueEntry entry;
  entry.set_opcode(spec::CompletionOpcode::receive);
  entry.set_status(spec::CompletionStatus::work_request_flushed_error);
  entry.set_queue_pair_number(queue_pair_number);
  entry.set_port(control.port());
  entry.set_partition_key_index(control.partition_key_index());
  entry.set_sequence_number(found->responder.completed());
  entry.set_work_queue(1);
  blocks_.completion_queue.write(underlying_function, control.receive_completion_queue(), entry);
}

void ResourceManager::finish_destroy(const Waiting& waiting) {
  const unsigned function = waiting.command.underlying_function;
  QueuePairStateCache& queue_pairs = blocks_.queue_pair_state_cache;
  end_shared_receive(function, waiting.queue_pair_number);
  const QueuePairStateCache::Found found = queue_pairs.find(function, waiting.queue_pair_number);
  if (!found) {
    queue_pairs.resume(waiting.queue_pair_number);
    complete(waiting.command, not_found(found.absence));
    return;
  }
  const spec::QueuePairControl& control = found->control;
  const std::array lists{
      PageList{.table = control.send_queue_pages()}, PageList{.table = control.send_entry_pages()},
      PageList{.table = control.receive_queue_pages()}, PageList{.table = control.receive_entry_pages()}};
  destroy_tables(lists);
  protection_domains_.remove_user(function, control.protection_domain());
  remove_completion_queue_users(control);
  if (SharedReceiveQueue* const shared =
          blocks_.shared_receive_queues.find(function, control.shared_receive_queue()))
    --shared->queue_pairs;
  blocks_.multicast_groups.remove(waiting.queue_pair_number);
  queue_pairs.destroy(waiting.queue_pair_number);
  complete(waiting.command, succeed());
}

void ResourceManager::finish_reset(const Waiting& waiting) {
  QueuePairStateCache& queue_pairs = blocks_.queue_pair_state_cache;
  queue_pairs.resume(waiting.queue_pair_number);
  end_shared_receive(waiting.command.underlying_function, waiting.queue_pair_number);
  QueuePairParts* queue_pair =
      queue_pairs.parts(waiting.command.underlying_function, waiting.queue_pair_number);
  if (queue_pair == nullptr) {
    complete(waiting.command, answer_with(ManagementStatus::context_memory_fault));
    return;
  }
  clear_attributes(queue_pair->control);
  blocks_.packet_templates.forget(waiting.queue_pair_number);
  QueuePairStateCache::reset_requester_and_responder(*queue_pair);
  complete(waiting.command, succeed());
}

void ResourceManager::finish_drain(const QueuePairStateCache::Named& quiet) {
  QueuePairParts* queue_pair =
      blocks_.queue_pair_state_cache.parts(quiet.underlying_function, quiet.queue_pair_number);
  if (queue_pair == nullptr || queue_pair->control.draining() == 0)
    return;
  // The queue pair may have failed meanwhile.
  const bool is_drained = queue_pair->control.state() == QueuePairState::send_queue_drained;
  // Work is waiting to be sent again.
  if (is_drained && queue_pair->completion.acknowledged() != queue_pair->requester.begun()) {
    blocks_.queue_pair_state_cache.watch_next(quiet.queue_pair_number);
    return;
  }
  queue_pair->control.set_draining(0);
  if (queue_pair->control.drained_event() == 0 || !is_drained)
    return;
  spec::EventUnit event;
  event.set_type(spec::EventType::send_queue_drained);
  event.set_underlying_function(quiet.underlying_function);
  event.set_object(quiet.queue_pair_number);
  blocks_.event_queue.report(event);
}

} // namespace fpga_verbs::hca
