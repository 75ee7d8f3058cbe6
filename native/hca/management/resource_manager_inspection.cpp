// Management commands that list objects and registers for observers. They change nothing.
#include "hca/management/management_answer.h"
#include "hca/management/object_inspection.h"
#include "hca/management/resource_manager.h"

#include <algorithm>
#include <vector>

namespace fpga_verbs::hca {

namespace {

using spec::ManagementStatus;

constexpr uint32_t most_registers = 256; // of a command

spec::InspectedQueuePair format_of(const QueuePairFacts& facts) {
  spec::InspectedQueuePair listed;
  listed.set_queue_pair_number(facts.number);
  listed.set_underlying_function(facts.underlying_function);
  listed.set_virtual_queue_pair(facts.virtual_queue_pair);
  listed.set_time_wait_left(facts.time_wait_left);
  if (facts.time_wait_left != 0)
    return listed;
  listed.set_service_type(facts.service_type);
  listed.set_state(facts.state);
  listed.set_hold(facts.hold);
  listed.set_quality_of_service_level(facts.level);
  listed.set_port(facts.port);
  listed.set_protection_domain(facts.protection_domain);
  listed.set_send_completion_queue(facts.send_completion_queue);
  listed.set_receive_completion_queue(facts.receive_completion_queue);
  listed.set_shared_receive_queue(facts.shared_receive_queue);
  listed.set_destination_queue_pair(facts.destination_queue_pair);
  listed.set_destination_local_identifier(facts.destination_local_identifier);
  listed.set_next(facts.next);
  listed.set_posted(facts.posted);
  listed.set_acknowledged(facts.acknowledged);
  listed.set_receive_head(facts.receive_head);
  listed.set_receive_tail(facts.receive_tail);
  listed.set_next_psn(facts.next_psn);
  listed.set_expected_psn(facts.expected_psn);
  listed.set_destination_gid(facts.destination_gid);
  return listed;
}

spec::InspectedRegion format_of(const RegionFacts& facts) {
  spec::InspectedRegion listed;
  listed.set_key(facts.key);
  listed.set_underlying_function(facts.underlying_function);
  listed.set_access_flags(facts.access_flags);
  listed.set_page_log2(facts.page_log2);
  listed.set_is_window(facts.is_window ? 1 : 0);
  listed.set_quiesced(facts.quiesced ? 1 : 0);
  listed.set_protection_domain(facts.protection_domain);
  listed.set_in_flight(facts.in_flight);
  listed.set_base(facts.base);
  listed.set_length(facts.length);
  listed.set_windows(facts.windows);
  return listed;
}

} // namespace

// The control function inspects all functions, another one itself.
bool ResourceManager::may_inspect(const Command& command, uint32_t functions) {
  return command.underlying_function == 0 || functions == uint32_t{1} << command.underlying_function;
}

template <class Facts, class Inspect>
spec::ManagementCompletion ResourceManager::inspect(const Command& command, Inspect inspect) {
  using F = spec::InspectInput;
  F input;
  MailboxReader reader(host_, command.underlying_function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (command.fields.input_length() != F::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  if (input.functions() == 0)
    return bad_input(F::functions_bit);
  if (!may_inspect(command, input.functions()))
    return answer_with(ManagementStatus::not_permitted);
  std::vector<Facts> found;
  const uint32_t next = inspect({.functions = input.functions(), .from = input.from()}, found);
  std::vector<decltype(format_of(Facts()))> listed;
  for (const Facts& facts : found)
    listed.push_back(format_of(facts));
  Answer answer =
      output(command, listed.data(), static_cast<uint32_t>(listed.size() * sizeof(listed.front())));
  if (answer.status() == ManagementStatus::success)
    answer.set_output(next);
  return answer;
}

spec::ManagementCompletion ResourceManager::inspect_queue_pairs(const Command& command) {
  return inspect<QueuePairFacts>(command, [this](const Inspection& inspection, auto& found) {
    return hca::inspect_queue_pairs(blocks_.queue_pair_state_cache, blocks_.virtual_queue_pairs, inspection,
                                    found);
  });
}

spec::ManagementCompletion ResourceManager::inspect_regions(const Command& command) {
  return inspect<RegionFacts>(command, [this](const Inspection& inspection, auto& found) {
    return hca::inspect_regions(blocks_.memory_translation.keys(), inspection, found);
  });
}

spec::ManagementCompletion ResourceManager::inspect_registers(const Command& command) {
  using F = spec::InspectRegistersInput;
  F input;
  MailboxReader reader(host_, command.underlying_function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  if (input.count() == 0 || input.count() > most_registers)
    return bad_input(F::count_bit);
  if (command.fields.input_length() != F::bytes + input.count() * sizeof(uint32_t))
    return bad_command(spec::ManagementCommand::input_length_bit);
  const unsigned function = input.underlying_function();
  if (function >= parameters_.underlying_functions)
    return bad_input(F::underlying_function_bit);
  if (!may_inspect(command, uint32_t{1} << function))
    return answer_with(ManagementStatus::not_permitted);
  std::vector<uint32_t> registers(input.count());
  if (!reader.read(registers.data(), registers.size() * sizeof registers[0]))
    return answer_with(ManagementStatus::mailbox_fault);
  for (uint32_t& value : registers)
    value = register_pages_->peek(function, value);
  return output(command, registers.data(), static_cast<uint32_t>(registers.size() * sizeof registers[0]));
}

} // namespace fpga_verbs::hca
