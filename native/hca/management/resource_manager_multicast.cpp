// Management commands about multicast groups.
#include "hca/management/management_answer.h"
#include "hca/management/resource_manager.h"

#include <algorithm>

namespace fpga_verbs::hca {

using spec::ManagementStatus;

spec::ManagementCompletion ResourceManager::change_multicast(const Command& command) {
  using F = spec::MulticastInput;
  const unsigned function = command.underlying_function;
  const uint32_t number = command.fields.input_modifier();
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (command.fields.input_length() != F::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  wire::Gid group;
  std::ranges::copy(input.gid(), group.begin());
  if (!wire::is_multicast(group))
    return bad_input(F::gid_byte * 8);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  const QueuePairStateCache::Found found = blocks_.queue_pair_state_cache.find(function, number);
  if (!found)
    return not_found(found.absence);
  MulticastGroups& groups = blocks_.multicast_groups;
  if (command.fields.opcode() == spec::ManagementOpcode::detach_multicast)
    return groups.detach(number, group) ? succeed() : answer_with(ManagementStatus::bad_object);
  // Only datagrams can go to groups (10.5.1).
  if (found->control.service_type() != spec::ServiceType::unreliable_datagram ||
      found->control.destroying() != 0)
    return answer_with(ManagementStatus::bad_state);
  switch (groups.attach(function, number, group)) {
  case MulticastGroups::Attached::full:
    return no_resources(spec::Resource::multicast_members, 1, 0);
  case MulticastGroups::Attached::unreachable:
    return answer_with(ManagementStatus::unreachable);
  case MulticastGroups::Attached::yes:
    break;
  }
  return succeed();
}

} // namespace fpga_verbs::hca
