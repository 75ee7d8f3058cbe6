#include "hca/management/resource_manager.h"

#include "hca/management/management_answer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace fpga_verbs::hca {

namespace {

using spec::ManagementOpcode;
using spec::ManagementStatus;

} // namespace

ResourceManager::ResourceManager(const HcaParameters& parameters, HostPort& host, const Clock& clock,
                                 const DeviceRegisters& device, Blocks blocks)
    : parameters_(parameters), host_(host), clock_(clock), device_(device), blocks_(blocks) {}

bool ResourceManager::step() {
  if (resumed_) {
    if (blocks_.queue_pair_fetch.resume(resumed_->underlying_function, resumed_->queue_pair_number))
      resumed_.reset();
    return true;
  }
  if (const auto quiet = blocks_.queue_pair_state_cache.take_quiet()) {
    take_quiet(*quiet);
    return true;
  }
  if (const auto key = blocks_.memory_translation.keys().take_quiet()) {
    finish_deregister(*key);
    return true;
  }
  if (!passing_.empty() && has_passed(passing_.front())) {
    finish_reset(passing_.front().waiting);
    passing_.erase(passing_.begin());
    return true;
  }
  if (!binding_.empty() && go_on_binding())
    return true;
  const bool has_unit = !blocks_.management_units.empty();
  const bool has_owed = blocks_.management_queue.has_work();
  if (!has_unit && !has_owed)
    return !passing_.empty();
  fetch_next_ = has_owed && (!has_unit || !fetch_next_);
  if (fetch_next_)
    take_fetched();
  else
    take_unit();
  return true;
}

void ResourceManager::take_unit() {
  const spec::ManagementUnit unit = blocks_.management_units.front();
  blocks_.management_units.pop();
  Command command{.underlying_function = unit.underlying_function(),
                  .sequence_number = static_cast<uint16_t>(unit.send_queue_sequence_number()),
                  .fields = {}};
  const auto buffer = static_cast<uint16_t>(unit.physical_collect_buffer());
  std::memcpy(&command.fields, blocks_.buffers[buffer].data.data(), sizeof command.fields);
  blocks_.collect_buffer.release(buffer);
  if (blocks_.management_queue.accept(command.underlying_function, command.sequence_number))
    carry_out(command);
}

void ResourceManager::take_fetched() {
  if (const std::optional<ManagementQueue::Fetched> fetched = blocks_.management_queue.fetch())
    carry_out({.underlying_function = fetched->underlying_function,
               .sequence_number = fetched->sequence_number,
               .fields = fetched->command});
}

void ResourceManager::take_quiet(const QueuePairStateCache::Named& quiet) {
  const auto found = std::ranges::find(waiting_, quiet.queue_pair_number, &Waiting::queue_pair_number);
  if (found == waiting_.end()) {
    finish_drain(quiet);
    return;
  }
  const Waiting waiting = *found;
  *found = waiting_.back();
  waiting_.pop_back();
  if (waiting.command.fields.opcode() == ManagementOpcode::destroy_queue_pair)
    finish_destroy(waiting);
  else
    passing_.push_back({.waiting = waiting,
                        .left = {blocks_.kicks_collected.count(), blocks_.kicks_scheduled.count(),
                                 blocks_.kicks_started.count(), blocks_.post_notices.count()}});
}

bool ResourceManager::has_passed(const Passing& passing) const {
  const LinkCounts left{blocks_.kicks_collected.left(), blocks_.kicks_scheduled.left(),
                        blocks_.kicks_started.left(), blocks_.post_notices.left()};
  return std::ranges::equal(left, passing.left, std::ranges::greater_equal{}) &&
         !blocks_.queue_pair_fetch.has_commands(passing.waiting.queue_pair_number);
}

void ResourceManager::carry_out(const Command& command) {
  std::optional<Answer> answer = check(command);
  if (!answer)
    answer = dispatch(command);
  if (answer)
    complete(command, *answer);
}

void ResourceManager::complete(const Command& command, Answer answer) {
  answer.set_opcode(command.fields.opcode());
  answer.set_token(command.fields.token());
  answer.set_send_queue_sequence_number(command.sequence_number);
  blocks_.management_queue.complete(command.underlying_function, answer);
}

std::optional<spec::ManagementCompletion> ResourceManager::check(const Command& command) const {
  using F = spec::ManagementCommand;
  const spec::ManagementCommand& fields = command.fields;
  if (fields.version() != spec::command_version)
    return bad_command(F::version_bit);
  if (fields.send_queue_sequence_number() != command.sequence_number)
    return bad_command(F::send_queue_sequence_number_bit);
  if (fields.queue_pair_number() != 0)
    return bad_command(F::queue_pair_number_bit);
  if (fields.length() != 0)
    return bad_command(F::length_bit);
  if (fields.quality_of_service_level() != spec::QualityOfServiceLevel::low)
    return bad_command(F::quality_of_service_level_bit);
  if (!fields.reserved_is_zero())
    return bad_command(reserved_field);
  return std::nullopt;
}

std::optional<spec::ManagementCompletion> ResourceManager::dispatch(const Command& command) {
  const ManagementOpcode opcode = command.fields.opcode();
  if (opcode == ManagementOpcode::query_function)
    return query_function(command);
  // All objects of a disabled device still exist: they can be queried, reset and destroyed.
  if (!device_.enabled && !device_.disabled)
    return answer_with(ManagementStatus::not_enabled);
  switch (opcode) {
  case ManagementOpcode::allocate_resources:
    return allocate_resources(command);
  case ManagementOpcode::query_resources:
    return query_resources(command);
  case ManagementOpcode::query_port:
    return query_port(command);
  case ManagementOpcode::set_global_identifier:
    return set_global_identifier(command);
  case ManagementOpcode::set_partition_key:
    return set_partition_key(command);
  case ManagementOpcode::create_address_handle:
    return create_address_handle(command);
  case ManagementOpcode::destroy_address_handle:
    return destroy_address_handle(command);
  case ManagementOpcode::attach_multicast:
  case ManagementOpcode::detach_multicast:
    return change_multicast(command);
  case ManagementOpcode::create_event_queue:
    return create_event_queue(command);
  case ManagementOpcode::destroy_event_queue:
    return destroy_event_queue(command);
  case ManagementOpcode::create_completion_queue:
    return create_completion_queue(command);
  case ManagementOpcode::resize_completion_queue:
    return resize_completion_queue(command);
  case ManagementOpcode::moderate_completion_queue:
    return moderate_completion_queue(command);
  case ManagementOpcode::destroy_completion_queue:
    return destroy_completion_queue(command);
  case ManagementOpcode::create_protection_domain:
    return create_protection_domain(command);
  case ManagementOpcode::destroy_protection_domain:
    return destroy_protection_domain(command);
  case ManagementOpcode::register_memory:
    return register_memory(command);
  case ManagementOpcode::deregister_memory:
    return deregister_memory(command);
  case ManagementOpcode::create_memory_window:
    return create_memory_window(command);
  case ManagementOpcode::destroy_memory_window:
    return destroy_memory_window(command);
  case ManagementOpcode::create_shared_receive_queue:
    return create_shared_receive_queue(command);
  case ManagementOpcode::modify_shared_receive_queue:
    return modify_shared_receive_queue(command);
  case ManagementOpcode::query_shared_receive_queue:
    return query_shared_receive_queue(command);
  case ManagementOpcode::destroy_shared_receive_queue:
    return destroy_shared_receive_queue(command);
  case ManagementOpcode::create_queue_pair:
    return create_queue_pair(command);
  case ManagementOpcode::modify_queue_pair:
    return modify_queue_pair(command);
  case ManagementOpcode::query_queue_pair:
    return query_queue_pair(command);
  case ManagementOpcode::destroy_queue_pair:
    return destroy_queue_pair(command);
  case ManagementOpcode::inspect_queue_pairs:
    return inspect_queue_pairs(command);
  case ManagementOpcode::inspect_regions:
    return inspect_regions(command);
  case ManagementOpcode::inspect_registers:
    return inspect_registers(command);
  default:
    return answer_with(ManagementStatus::unknown_opcode);
  }
}

std::optional<spec::ManagementCompletion>
ResourceManager::read_input(const Command& command, MailboxReader& reader, void* input, uint32_t bytes) {
  using F = spec::ManagementCommand;
  const uint64_t address = command.fields.input_mailbox();
  if (address == 0 || address % spec::page_bytes != 0)
    return bad_command(F::input_mailbox_bit);
  if (command.fields.input_length() < bytes)
    return bad_command(F::input_length_bit);
  if (!reader.read(input, bytes))
    return answer_with(ManagementStatus::mailbox_fault);
  return std::nullopt;
}

spec::ManagementCompletion ResourceManager::output(const Command& command, const void* content,
                                                   uint32_t bytes) {
  using F = spec::ManagementCommand;
  const uint64_t address = command.fields.output_mailbox();
  if (address == 0 || address % spec::page_bytes != 0)
    return bad_command(F::output_mailbox_bit);
  if (command.fields.output_length() < bytes)
    return bad_command(F::output_length_bit);
  return write_mailbox(host_, command.underlying_function, address, content, bytes)
             ? succeed()
             : answer_with(ManagementStatus::mailbox_fault);
}

// Page lists.

std::optional<spec::ManagementCompletion> ResourceManager::create_tables(unsigned underlying_function,
                                                                         MailboxReader& reader,
                                                                         uint32_t format_bytes,
                                                                         std::span<PageList> lists) {
  std::optional<Answer> failed;
  for (PageList& list : lists) {
    if (list.pages == 0)
      continue;
    const std::optional<uint32_t> table =
        blocks_.memory_translation.create_table(underlying_function, list.pages);
    if (!table) {
      failed = no_resources(spec::Resource::context_memory, list.pages,
                            blocks_.memory_translation.longest_table());
      break;
    }
    list.table = *table;
  }
  uint32_t bit = format_bytes * 8;
  for (size_t list = 0; list < lists.size() && !failed; ++list) {
    failed = copy_list(reader, lists[list], bit);
    bit += lists[list].pages * spec::PageTableEntry::bytes * 8;
  }
  if (failed)
    destroy_tables(lists);
  return failed;
}

std::optional<spec::ManagementCompletion>
ResourceManager::copy_list(MailboxReader& reader, const PageList& list, uint32_t first_bit) {
  constexpr uint32_t at_once = 64;
  std::array<spec::PageTableEntry, at_once> entries;
  for (uint32_t first = 0; first < list.pages; first += at_once) {
    const uint32_t count = std::min(list.pages - first, at_once);
    if (!reader.read(entries.data(), count * sizeof entries[0]))
      return answer_with(ManagementStatus::mailbox_fault);
    for (uint32_t entry = 0; entry < count; ++entry)
      if (entries[entry].valid() == 0 || !entries[entry].reserved_is_zero())
        return bad_input(first_bit + (first + entry) * spec::PageTableEntry::bytes * 8);
    if (!blocks_.memory_translation.write_entries(list.table, first, std::span(entries).first(count)))
      return answer_with(ManagementStatus::context_memory_fault);
  }
  return std::nullopt;
}

void ResourceManager::destroy_tables(std::span<const PageList> lists) {
  for (const PageList& list : lists)
    if (list.table != no_table)
      blocks_.memory_translation.destroy_table(list.table);
}

// Reset.

void ResourceManager::reset_function(unsigned underlying_function) {
  for (size_t left = blocks_.management_units.size(); left != 0; --left) {
    const spec::ManagementUnit unit = blocks_.management_units.front();
    blocks_.management_units.pop();
    if (unit.underlying_function() == underlying_function)
      blocks_.collect_buffer.release(static_cast<uint16_t>(unit.physical_collect_buffer()));
    else
      blocks_.management_units.push(unit);
  }
  const auto is_of_function = [underlying_function](const Command& command) {
    return command.underlying_function == underlying_function;
  };
  std::erase_if(waiting_, [&](const Waiting& waiting) { return is_of_function(waiting.command); });
  std::erase_if(waiting_keys_, [&](const WaitingKey& waiting) { return is_of_function(waiting.command); });
  std::erase_if(passing_, [&](const Passing& passing) { return is_of_function(passing.waiting.command); });
  std::erase_if(binding_, [&](const Binding& binding) { return is_of_function(binding.command); });
  if (resumed_ && resumed_->underlying_function == underlying_function)
    resumed_.reset();
  protection_domains_.reset_function(underlying_function);
}

void ResourceManager::reset() {
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function)
    reset_function(function);
  fetch_next_ = false;
}

} // namespace fpga_verbs::hca
