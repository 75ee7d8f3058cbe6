#pragma once

#include "Vmemory_translation.h"
#include "memory_translation_model.h"

#include "hca/memory/access_rights.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// A resource manager that creates, changes and removes keys and tables at random, one change at a time. It
// writes host memory and issues the commands of the change. Until they are answered, an access may find the
// state before the change (`before`) or after it (`now`).
class TranslationManager {
public:
  static constexpr unsigned functions = 4;
  static constexpr uint32_t queue_pair_count = 6;
  static constexpr uint32_t queue_table_pages = 40;

  enum class Kind : uint8_t { key, pages, function, all };
  struct Command {
    Kind kind = Kind::key;
    uint32_t key = 0; // with its variant
    bool is_live = false;
    bool is_quiesced = false;
    unsigned function = 0;
    uint32_t first = 0;
    uint32_t last = 0;
  };
  struct Key {
    uint32_t key = 0;
    unsigned function = 0;
    uint32_t protection_domain = 0;
    uint32_t rights = 0;
    uint64_t base = 0;
    uint64_t length = 0;
    uint32_t table = 0;
    uint32_t pages = 0;
    uint32_t window_type = 0; // 0: a region
    uint32_t queue_pair = 0;  // of a bound window of type 2
    bool is_quiesced = false;
  };

  explicit TranslationManager(Random& random) : random_(random) {
    // A queue of each function, whose pages change while its table stays.
    for (unsigned function = 0; function < functions; ++function) {
      const std::vector<spec::PageTableEntry> entries = some_entries(queue_table_pages);
      apply_to_both([&](TranslationModel& model) {
        queue_tables[function] = model.translation.create_table(function, queue_table_pages).value();
        model.translation.write_entries(queue_tables[function], 0, entries);
      });
    }
  }

  TranslationModel now;
  TranslationModel before;
  std::vector<Key> keys;
  std::deque<uint32_t> former;
  std::array<uint32_t, functions> queue_tables{};
  bool changes_pages = false; // of accesses that may be in flight
  bool is_narrow = false;     // only the first queue changes

  static uint32_t queue_pair(uint32_t which) { return which * 0x10001 + 3; }

  // Begins a change, if possible; its commands are then issued in turn.
  void begin() {
    changes_pages = false;
    if (is_narrow)
      return change_queue();
    switch (random_.below(8)) {
    case 0:
    case 1:
      return create_region();
    case 2:
      return destroy();
    case 3:
      return quiesce();
    case 4:
      return create_window();
    case 5:
      return bind();
    case 6:
      return random_.once(6) ? break_entry() : change_pages();
    default:
      return change_pages();
    }
  }
  void create_region(uint32_t pages = 0) {
    const unsigned function = random_.below(functions);
    const uint32_t page_log2 = 12 + (pages == 0 && random_.once(3) ? random_.below(3) : 0);
    const uint32_t count = pages != 0 ? pages : 1 + random_.below(20);
    std::vector<spec::PageTableEntry> entries = some_entries(count);
    if (pages != 0)
      for (spec::PageTableEntry& entry : entries)
        entry.set_valid(1);
    if (now.translation.keys().keys_free() == 0 || now.translation.longest_table() < count)
      return;
    Key made{.function = function,
             .protection_domain = random_.below(2) + 5,
             .rights = pages != 0 ? 0xf : random_.below(64),
             .pages = count};
    spec::MemoryKeyEntry entry;
    const uint64_t in_page = pages != 0 ? 0 : random_.below(1U << page_log2);
    const uint64_t whole = (uint64_t{count} << page_log2) - in_page;
    made.base = in_page + (random_.bits() << 14 >> random_.below(20));
    made.length = whole - (pages != 0 ? 0 : random_.below(1U << page_log2));
    if (random_.once(8))
      made.base = 0 - whole; // ends at the end of the address space
    if (static_cast<int64_t>(made.length) <= 0)
      made.length = 1;
    entry.set_underlying_function(function);
    entry.set_protection_domain(made.protection_domain);
    entry.set_access_flags(made.rights);
    entry.set_base(made.base);
    entry.set_length(made.length);
    entry.set_page_log2(page_log2);
    entry.set_first_page_offset(in_page);
    changed([=, this, &made](TranslationModel& model) mutable {
      const uint32_t table = model.translation.create_table(function, count).value();
      model.translation.write_entries(table, 0, entries);
      entry.set_page_table(table);
      const uint32_t key = model.translation.keys().create(entry).value();
      if (&model == &now) {
        made.table = table;
        made.key = key;
      }
    });
    keys.push_back(made);
    commands.push_back(pages_command(made.table, 0, count));
    commands.push_back({.key = made.key, .is_live = true, .function = function});
  }

  // The commands of the change in progress; call finish() when the last one is answered.
  std::deque<Command> commands;
  void finish() {
    if (change_)
      change_(before);
    change_ = nullptr;
    changes_pages = false;
  }
  bool is_changing() const { return change_ != nullptr; }

private:
  using Change = std::function<void(TranslationModel&)>;

  template <class Do> void apply_to_both(Do&& change) {
    change(now);
    change(before);
  }
  void changed(Change change) {
    change(now);
    change_ = std::move(change);
  }

  std::vector<spec::PageTableEntry> some_entries(uint32_t count) {
    std::vector<spec::PageTableEntry> entries(count);
    for (spec::PageTableEntry& entry : entries) {
      entry.set_page(random_.bits() >> 12 >> random_.below(30));
      entry.set_valid(!random_.once(20));
    }
    return entries;
  }
  static Command pages_command(uint32_t table, uint32_t first, uint32_t count) {
    return {.kind = Kind::pages,
            .first = (table + first) / line_entries,
            .last = (table + first + count - 1) / line_entries};
  }
  // Sometimes replaces a command by one that invalidates more.
  Command some_command(Command small, unsigned function) {
    switch (random_.below(4)) {
    case 0:
      return {.kind = Kind::function, .function = function};
    case 1:
      return {.kind = Kind::all};
    default:
      return small;
    }
  }
  Key* some_key() {
    return keys.empty() ? nullptr : &keys[random_.below(static_cast<uint32_t>(keys.size()))];
  }

  void destroy() {
    Key* const key = some_key();
    if (key == nullptr || (key->window_type == 0 && now.translation.keys().windows(key->key) != 0))
      return;
    const Key gone = *key;
    changed([=](TranslationModel& model) {
      hca::KeyTable& table = model.translation.keys();
      if (!table.is_quiesced(gone.key))
        table.quiesce(gone.key);
      table.take_quiet();
      table.destroy(gone.key);
      model.broken.erase(hca::KeyTable::index_of(gone.key));
      if (gone.window_type == 0)
        model.translation.destroy_table(gone.table);
    });
    commands.push_back({.key = gone.key, .function = gone.function});
    former.push_back(gone.key);
    if (former.size() > 8)
      former.pop_front();
    keys.erase(keys.begin() + (key - keys.data()));
  }

  void quiesce() {
    Key* const key = some_key();
    if (key == nullptr || key->is_quiesced || !random_.once(5))
      return;
    key->is_quiesced = true;
    const uint32_t quiet = key->key;
    changed([=](TranslationModel& model) {
      model.translation.keys().quiesce(quiet);
      model.translation.keys().take_quiet();
    });
    commands.push_back({.key = quiet, .is_live = true, .is_quiesced = true, .function = key->function});
  }

  void create_window() {
    if (now.translation.keys().keys_free() == 0)
      return;
    Key made{.function = random_.below(functions),
             .protection_domain = random_.below(2) + 5,
             .window_type = 1 + random_.below(2)};
    spec::MemoryKeyEntry entry;
    entry.set_is_window(1);
    entry.set_window_type(made.window_type);
    entry.set_underlying_function(made.function);
    entry.set_protection_domain(made.protection_domain);
    changed([=, this, &made](TranslationModel& model) {
      const uint32_t key = model.translation.keys().create(entry).value();
      if (&model == &now)
        made.key = key;
    });
    commands.push_back({.key = made.key, .is_live = true, .function = made.function});
    keys.push_back(made);
  }

  // Binds a window to a part of a region, or invalidates it.
  void bind() {
    for (int attempts = 0; attempts < 40; ++attempts) {
      Key* const window = some_key();
      if (window == nullptr || window->window_type == 0 || window->is_quiesced)
        continue;
      const hca::MemoryWindows::Owner owner{.underlying_function = window->function,
                                            .queue_pair_number = queue_pair(random_.below(queue_pair_count)),
                                            .protection_domain = window->protection_domain};
      if (window->window_type == 2 && window->length != 0) {
        const hca::MemoryWindows::Owner its{.underlying_function = window->function,
                                            .queue_pair_number = window->queue_pair,
                                            .protection_domain = window->protection_domain};
        const uint32_t key = window->key;
        changed([=](TranslationModel& model) {
          if (model.windows.invalidate(its, key) != hca::MemoryWindows::Outcome::done)
            std::abort();
          model.broken.erase(hca::KeyTable::index_of(key));
        });
        window->length = 0;
        commands.push_back(
            some_command({.key = key, .is_live = true, .function = window->function}, window->function));
        return;
      }
      const Key* const region = some_key();
      if (region->window_type != 0 || region->function != window->function || region->is_quiesced)
        continue;
      spec::BindEntry binding;
      const uint64_t from = random_.bits() % region->length;
      const bool is_zero_based = window->window_type == 2 && random_.once(3);
      const uint32_t rights =
          (random_.below(16) & 0xe) | (is_zero_based ? hca::right(spec::AccessFlag::zero_based) : 0);
      binding.set_region_key(region->key);
      binding.set_access_flags(rights);
      binding.set_address(region->base + from);
      binding.set_length(1 + random_.bits() % (region->length - from));
      const bool is_same = window->window_type == 1 && random_.once(3);
      const uint32_t key = (window->key & ~0xffU) | (is_same ? window->key & 0xff : random_.below(256));
      if (now.windows.bind(owner, key, binding) != hca::MemoryWindows::Outcome::done)
        continue;
      changed([=](TranslationModel& model) {
        if (model.windows.bind(owner, key, binding) != hca::MemoryWindows::Outcome::done)
          std::abort();
        model.broken.erase(hca::KeyTable::index_of(key));
      });
      if (key != window->key)
        former.push_back(window->key);
      const Command command{.key = key, .is_live = true, .function = window->function};
      commands.push_back(key == window->key ? some_command(command, window->function) : command);
      window->key = key;
      window->rights = rights;
      window->base = is_zero_based ? 0 : binding.address();
      window->length = binding.length();
      window->table = region->table;
      window->queue_pair = owner.queue_pair_number;
      return;
    }
  }

  void change_pages() {
    const Key* const key = random_.once(3) ? nullptr : some_key();
    const unsigned function = key != nullptr ? key->function : random_.below(functions);
    if (key != nullptr && key->window_type != 0)
      return;
    const uint32_t table = key != nullptr ? key->table : queue_tables[function];
    const uint32_t pages = key != nullptr ? key->pages : queue_table_pages;
    const uint32_t first = random_.below(pages);
    const uint32_t count = 1 + random_.below(pages - first);
    const std::vector<spec::PageTableEntry> entries = some_entries(count);
    changed([=](TranslationModel& model) { model.translation.write_entries(table, first, entries); });
    changes_pages = true;
    commands.push_back(some_command(pages_command(table, first, count), function));
  }

  // Changes some pages of the first queue.
  void change_queue() {
    const uint32_t first = random_.below(queue_table_pages);
    const uint32_t count = std::min(queue_table_pages - first, 1 + random_.below(2 * line_entries));
    const std::vector<spec::PageTableEntry> entries = some_entries(count);
    const uint32_t table = queue_tables[0];
    changed([=](TranslationModel& model) { model.translation.write_entries(table, first, entries); });
    changes_pages = true;
    commands.push_back(pages_command(table, first, count));
  }

  // Replaces the key's entry in host memory by that of another key, which the device detects when it reads
  // the entry.
  void break_entry() {
    const Key* const key = some_key();
    if (key == nullptr || now.broken.contains(hca::KeyTable::index_of(key->key)))
      return;
    spec::MemoryKeyEntry entry;
    const uint64_t address = TranslationModel::address_of_key(key->key);
    now.host.read(0, address, &entry, sizeof entry);
    switch (random_.below(3)) {
    case 0:
      entry.set_valid(0);
      break;
    case 1:
      entry.set_variant(entry.variant() ^ 1U << random_.below(8));
      break;
    default:
      entry.set_underlying_function(entry.underlying_function() ^ 1U << random_.below(8));
    }
    now.host.write(0, address, &entry, sizeof entry);
    const uint32_t broken = hca::KeyTable::index_of(key->key);
    changed([=](TranslationModel& model) { model.broken.insert(broken); });
    commands.push_back(
        {.key = key->key, .is_live = true, .is_quiesced = key->is_quiesced, .function = key->function});
  }

  Random& random_;
  Change change_;
};

} // namespace fpga_verbs::bench
