// Management commands about memory regions and windows.
#include "hca/management/management_answer.h"
#include "hca/management/resource_manager.h"

#include <algorithm>
#include <array>
#include <limits>

namespace fpga_verbs::hca {

namespace {

using spec::AccessFlag;
using spec::ManagementStatus;

constexpr unsigned page_log2_minimum = 12;
constexpr unsigned page_log2_maximum = 31;
constexpr uint64_t length_maximum = uint64_t{1} << 48;

// Valid rights, and those that require local_write (InfiniBand volume 1, 10.6.3.1).
constexpr uint32_t all_rights = (right(AccessFlag::zero_based) << 1) - 1;
constexpr uint32_t remote_changes = right(AccessFlag::remote_write) | right(AccessFlag::remote_atomic);

// Refusal of the input of register_memory.
std::optional<spec::ManagementCompletion> check_register(const spec::RegisterMemoryInput& input) {
  using F = spec::RegisterMemoryInput;
  const uint32_t rights = input.access_flags();
  if ((rights & ~all_rights) != 0 ||
      ((rights & remote_changes) != 0 && (rights & right(AccessFlag::local_write)) == 0))
    return bad_input(F::access_flags_bit);
  if (input.page_log2() < page_log2_minimum || input.page_log2() > page_log2_maximum)
    return bad_input(F::page_log2_bit);
  if (input.length() == 0 || input.length() > length_maximum)
    return bad_input(F::length_bit);
  if (input.base() > std::numeric_limits<uint64_t>::max() - (input.length() - 1) ||
      ((rights & right(AccessFlag::zero_based)) != 0 && input.base() != 0))
    return bad_input(F::base_bit);
  const uint64_t page_bytes = uint64_t{1} << input.page_log2();
  if (input.first_page_offset() >= page_bytes)
    return bad_input(F::first_page_offset_bit);
  if (input.pages() * page_bytes < input.first_page_offset() + input.length())
    return bad_input(F::pages_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  return std::nullopt;
}

spec::MemoryKeyEntry entry_of(unsigned underlying_function, const spec::RegisterMemoryInput& input,
                              uint32_t page_table) {
  spec::MemoryKeyEntry entry;
  entry.set_underlying_function(underlying_function);
  entry.set_access_flags(input.access_flags());
  entry.set_protection_domain(input.protection_domain());
  entry.set_base(input.base());
  entry.set_length(input.length());
  entry.set_page_log2(input.page_log2());
  entry.set_page_table(page_table);
  entry.set_first_page_offset(input.first_page_offset());
  return entry;
}

} // namespace

spec::ManagementCompletion ResourceManager::register_memory(const Command& command) {
  using F = spec::RegisterMemoryInput;
  const unsigned function = command.underlying_function;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (const auto wrong = check_register(input))
    return *wrong;
  if (command.fields.input_length() != F::bytes + uint64_t{input.pages()} * spec::PageTableEntry::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  if (!protection_domains_.exists(function, input.protection_domain()))
    return answer_with(ManagementStatus::bad_object);
  KeyTable& keys = blocks_.memory_translation.keys();
  if (keys.keys_free() == 0)
    return no_resources(spec::Resource::memory_keys, 1, 0);
  std::array lists{PageList{.pages = input.pages()}};
  if (const auto failed = create_tables(function, reader, F::bytes, lists))
    return *failed;
  const std::optional<uint32_t> key = keys.create(entry_of(function, input, lists[0].table));
  if (!key) {
    destroy_tables(lists);
    return answer_with(ManagementStatus::context_memory_fault);
  }
  protection_domains_.add_user(function, input.protection_domain());
  return succeed(*key);
}

std::optional<spec::ManagementCompletion> ResourceManager::deregister_memory(const Command& command) {
  KeyTable& keys = blocks_.memory_translation.keys();
  const uint32_t key = command.fields.input_modifier();
  if (!keys.exists(command.underlying_function, key))
    return answer_with(ManagementStatus::bad_object);
  if (keys.is_quiesced(key))
    return answer_with(ManagementStatus::bad_state);
  const spec::MemoryKeyEntry* entry = keys.find(command.underlying_function, key);
  if (entry == nullptr)
    return answer_with(ManagementStatus::context_memory_fault);
  if (entry->is_window() != 0)
    return answer_with(ManagementStatus::bad_object);
  if (keys.windows(key) != 0)
    return answer_with(ManagementStatus::in_use);
  waiting_keys_.push_back({.key = key,
                           .page_table = entry->page_table(),
                           .protection_domain = entry->protection_domain(),
                           .command = command});
  keys.quiesce(key);
  return std::nullopt;
}

spec::ManagementCompletion ResourceManager::create_memory_window(const Command& command) {
  using F = spec::CreateMemoryWindowInput;
  const unsigned function = command.underlying_function;
  F input;
  MailboxReader reader(host_, function, command.fields.input_mailbox());
  if (const auto failed = read_input(command, reader, &input, F::bytes))
    return *failed;
  if (command.fields.input_length() != F::bytes)
    return bad_command(spec::ManagementCommand::input_length_bit);
  if (input.window_type() != window_type_1 && input.window_type() != window_type_2)
    return bad_input(F::window_type_bit);
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  if (!protection_domains_.exists(function, input.protection_domain()))
    return answer_with(ManagementStatus::bad_object);
  KeyTable& keys = blocks_.memory_translation.keys();
  if (keys.keys_free() == 0)
    return no_resources(spec::Resource::memory_keys, 1, 0);
  spec::MemoryKeyEntry entry;
  entry.set_is_window(1);
  entry.set_window_type(input.window_type());
  entry.set_underlying_function(function);
  entry.set_protection_domain(input.protection_domain());
  const std::optional<uint32_t> key = keys.create(entry);
  if (!key)
    return answer_with(ManagementStatus::context_memory_fault);
  protection_domains_.add_user(function, input.protection_domain());
  return succeed(*key);
}

// Ignores the current variant of the key. Also unbinds a bound window.
std::optional<spec::ManagementCompletion> ResourceManager::destroy_memory_window(const Command& command) {
  KeyTable& keys = blocks_.memory_translation.keys();
  const std::optional<uint32_t> key =
      keys.current(command.underlying_function, command.fields.input_modifier());
  if (!key)
    return answer_with(ManagementStatus::bad_object);
  if (keys.is_quiesced(*key))
    return answer_with(ManagementStatus::bad_state);
  const spec::MemoryKeyEntry* entry = keys.find(command.underlying_function, *key);
  if (entry == nullptr)
    return answer_with(ManagementStatus::context_memory_fault);
  if (entry->is_window() == 0)
    return answer_with(ManagementStatus::bad_object);
  waiting_keys_.push_back({.key = *key, .protection_domain = entry->protection_domain(), .command = command});
  keys.quiesce(*key);
  return std::nullopt;
}

void ResourceManager::finish_deregister(uint32_t key) {
  const auto found = std::ranges::find(waiting_keys_, key, &WaitingKey::key);
  const WaitingKey waiting = *found;
  *found = waiting_keys_.back();
  waiting_keys_.pop_back();
  blocks_.memory_translation.keys().destroy(key);
  if (waiting.page_table != no_table)
    blocks_.memory_translation.destroy_table(waiting.page_table);
  protection_domains_.remove_user(waiting.command.underlying_function, waiting.protection_domain);
  complete(waiting.command, succeed());
}

} // namespace fpga_verbs::hca
