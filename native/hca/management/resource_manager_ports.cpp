// Management commands about ports.
#include "hca/management/management_answer.h"
#include "hca/management/resource_manager.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace fpga_verbs::hca {

namespace {

// Encoded as in ibv_port_attr.
constexpr uint32_t four_lanes = 2;
constexpr uint32_t twenty_five_gigabits = 32;

// The output of query_port.
struct PortFacts {
  spec::QueryPortOutput attributes;
  std::array<spec::GidEntry, spec::gid_table_entries> gids;
  std::array<spec::PartitionKeyEntry, spec::partition_key_table_entries> partition_keys;
};
static_assert(sizeof(PortFacts) == spec::QueryPortOutput::bytes +
                                       spec::gid_table_entries * spec::GidEntry::bytes +
                                       spec::partition_key_table_entries * spec::PartitionKeyEntry::bytes);

} // namespace

spec::ManagementCompletion ResourceManager::query_port(const Command& command) {
  const PortAttributes& ports = blocks_.port_attributes;
  const unsigned port = command.fields.input_modifier();
  const unsigned function = command.underlying_function;
  if (!ports.exists(port))
    return bad_command(spec::ManagementCommand::input_modifier_bit);
  PortFacts facts;
  spec::QueryPortOutput& attributes = facts.attributes;
  attributes.set_state(ports.state(port));
  attributes.set_physical_state(ports.physical_state(port));
  attributes.set_link_layer(ports.link_layer());
  attributes.set_maximum_mtu(spec::PathMtu::mtu_4096);
  attributes.set_active_mtu(spec::PathMtu::mtu_4096);
  attributes.set_maximum_message_bytes(spec::message_bytes_maximum);
  attributes.set_gid_table_entries(spec::gid_table_entries);
  attributes.set_partition_key_table_entries(spec::partition_key_table_entries);
  attributes.set_local_identifier(ports.local_identifier(port, function));
  attributes.set_virtual_lanes(1);
  attributes.set_active_width(four_lanes);
  attributes.set_active_speed(twenty_five_gigabits);
  const PortCounters& counters = blocks_.counters.port[port - 1];
  attributes.set_bad_partition_keys(static_cast<uint32_t>(counters.bad_partition_keys));
  attributes.set_bad_queue_keys(static_cast<uint32_t>(counters.bad_queue_keys));
  const wire::MacAddress mac = ports.mac(port, function);
  uint64_t mac_bytes = 0;
  std::memcpy(&mac_bytes, mac.data(), mac.size());
  attributes.set_mac_low(static_cast<uint32_t>(mac_bytes));
  attributes.set_mac_high(static_cast<uint32_t>(mac_bytes >> 32));
  for (unsigned index = 0; index < facts.gids.size(); ++index)
    facts.gids[index].set_gid(ports.gids(port, function)[index]);
  for (unsigned index = 0; index < facts.partition_keys.size(); ++index)
    facts.partition_keys[index].set_partition_key(ports.partition_keys(port)[index]);
  return output(command, &facts, offsetof(PortFacts, partition_keys) + sizeof facts.partition_keys);
}

spec::ManagementCompletion ResourceManager::set_global_identifier(const Command& command) {
  using F = spec::SetGlobalIdentifierInput;
  const unsigned function = command.underlying_function;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (!blocks_.port_attributes.exists(input.port()))
    return bad_input(F::port_bit);
  if (input.gid_index() == 0 || input.gid_index() >= spec::gid_table_entries)
    return bad_input(F::gid_index_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  wire::Gid gid;
  std::ranges::copy(input.gid(), gid.begin());
  blocks_.port_attributes.set_gid(input.port(), function, input.gid_index(), gid);
  return succeed();
}

spec::ManagementCompletion ResourceManager::set_partition_key(const Command& command) {
  using F = spec::SetPartitionKeyInput;
  if (command.underlying_function != 0)
    return answer_with(spec::ManagementStatus::not_permitted);
  F input;
  MailboxReader reader(host_, command.underlying_function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (!blocks_.port_attributes.exists(input.port()))
    return bad_input(F::port_bit);
  if (input.partition_key_index() >= spec::partition_key_table_entries)
    return bad_input(F::partition_key_index_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  blocks_.port_attributes.set_partition_key(input.port(), input.partition_key_index(),
                                            static_cast<uint16_t>(input.partition_key()));
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function) {
    spec::EventUnit event;
    event.set_type(spec::EventType::partition_key_change);
    event.set_underlying_function(function);
    event.set_object(input.port());
    blocks_.event_queue.report(event);
  }
  return succeed();
}

} // namespace fpga_verbs::hca
