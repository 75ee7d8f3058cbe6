// Management commands about address handles.
#include "hca/management/check_address_vector.h"
#include "hca/management/management_answer.h"
#include "hca/management/resource_manager.h"
#include "hca/queue_pair/address_vector.h"

namespace fpga_verbs::hca {

using spec::ManagementStatus;

spec::ManagementCompletion ResourceManager::create_address_handle(const Command& command) {
  using F = spec::CreateAddressHandleInput;
  const unsigned function = command.underlying_function;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (command.fields.input_length() != F::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  const spec::AddressVector address_vector = read_address_vector(input.address_vector());
  if (const auto wrong =
          check_address_vector(address_vector, uint64_t{F::address_vector_byte} * 8, parameters_))
    return *wrong;
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  const uint32_t domain = input.protection_domain();
  if (!protection_domains_.exists(function, domain))
    return answer_with(ManagementStatus::bad_object);
  const std::optional<uint32_t> created = blocks_.address_handles.create(
      function, {.protection_domain = domain, .address_vector = address_vector});
  if (!created)
    return no_resources(spec::Resource::address_handles, 1, 0);
  protection_domains_.add_user(function, domain);
  return succeed(*created);
}

// A command in flight keeps the address vector with which it started.
spec::ManagementCompletion ResourceManager::destroy_address_handle(const Command& command) {
  const unsigned function = command.underlying_function;
  const uint32_t number = command.fields.input_modifier();
  const AddressHandles::Entry* const found = blocks_.address_handles.find(function, number);
  if (found == nullptr)
    return answer_with(ManagementStatus::bad_object);
  protection_domains_.remove_user(function, found->protection_domain);
  blocks_.address_handles.destroy(number);
  return succeed();
}

} // namespace fpga_verbs::hca
