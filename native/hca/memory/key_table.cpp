#include "hca/memory/key_table.h"

#include <algorithm>
#include <cassert>

namespace fpga_verbs::hca {

KeyTable::KeyTable(const HcaParameters& parameters, ContextMemory& context_memory)
    : context_memory_(context_memory), directory_(parameters.memory_keys) {
  reset();
}

void KeyTable::reset() {
  change();
  std::ranges::fill(directory_, Place{});
  cache_.fill({});
  free_ = {};
  quiet_list_ = {};
  for (uint32_t index = reserved_indices; index < directory_.size(); ++index)
    append(free_, index);
  free_count_ = static_cast<uint32_t>(directory_.size()) - reserved_indices;
}

void KeyTable::append(List& list, uint32_t index) {
  directory_[index].next = none;
  (list.last == none ? list.first : directory_[list.last].next) = index;
  list.last = index;
}

uint32_t KeyTable::take(List& list) {
  const uint32_t index = list.first;
  list.first = directory_[index].next;
  if (list.first == none)
    list.last = none;
  return index;
}

KeyTable::Place* KeyTable::live(uint32_t key) {
  const uint32_t index = index_of(key);
  if (index >= directory_.size() || !directory_[index].live || key_of(index) != key)
    return nullptr;
  return &directory_[index];
}

std::optional<uint32_t> KeyTable::create(const spec::MemoryKeyEntry& entry) {
  if (free_.first == none)
    return std::nullopt;
  const uint32_t index = free_.first;
  Place& place = directory_[index];
  spec::MemoryKeyEntry made = entry;
  made.set_valid(1);
  made.set_variant(place.variant);
  if (context_memory_.write_memory_key(index, made) == DmaStatus::fault)
    return std::nullopt;
  take(free_);
  --free_count_;
  place.live = true;
  place.underlying_function = static_cast<uint8_t>(entry.underlying_function());
  cache_[index % cache_lines] = {.index = index, .entry = made};
  return key_of(index);
}

const spec::MemoryKeyEntry* KeyTable::find(unsigned underlying_function, uint32_t key) {
  if (!exists(underlying_function, key))
    return nullptr;
  const uint32_t index = index_of(key);
  CachedEntry& cached = cache_[index % cache_lines];
  if (cached.index == index)
    return &cached.entry;
  cached.index = none;
  // Context memory belongs to the control function; the device still checks the returned data.
  if (context_memory_.read_memory_key(index, cached.entry) == DmaStatus::fault || cached.entry.valid() == 0 ||
      cached.entry.variant() != directory_[index].variant ||
      cached.entry.underlying_function() != underlying_function)
    return nullptr;
  cached.index = index;
  return &cached.entry;
}

std::optional<RegionFacts> KeyTable::facts_at(uint32_t index) {
  if (index >= directory_.size() || !directory_[index].live)
    return std::nullopt;
  const Place& place = directory_[index];
  const CachedEntry& cached = cache_[index % cache_lines];
  spec::MemoryKeyEntry entry = cached.entry;
  if (cached.index != index && context_memory_.read_memory_key(index, entry) == DmaStatus::fault)
    return std::nullopt;
  return RegionFacts{.key = key_of(index),
                     .underlying_function = place.underlying_function,
                     .protection_domain = entry.protection_domain(),
                     .access_flags = entry.access_flags(),
                     .base = entry.base(),
                     .length = entry.length(),
                     .page_log2 = entry.page_log2(),
                     .in_flight = place.in_flight,
                     .windows = place.windows,
                     .is_window = entry.is_window() != 0,
                     .quiesced = place.quiesced};
}

void KeyTable::quiesce(uint32_t key) {
  Place* place = live(key);
  assert(place != nullptr);
  place->quiesced = true;
  change();
  if (place->in_flight == 0)
    become_quiet(index_of(key));
}

void KeyTable::become_quiet(uint32_t index) {
  Place& place = directory_[index];
  if (place.quiet)
    return;
  place.quiet = true;
  append(quiet_list_, index);
  quiet_.wake();
}

std::optional<uint32_t> KeyTable::take_quiet() {
  if (quiet_list_.first == none)
    return std::nullopt;
  const uint32_t index = take(quiet_list_);
  directory_[index].quiet = false;
  return key_of(index);
}

void KeyTable::begin_access(uint32_t key) {
  if (Place* place = live(key); place != nullptr)
    ++place->in_flight;
}

void KeyTable::end_access(uint32_t key) {
  Place* place = live(key);
  if (place == nullptr)
    return;
  assert(place->in_flight != 0);
  if (--place->in_flight != 0)
    return;
  end_waiting(*place);
  if (place->quiesced)
    become_quiet(index_of(key));
}

std::optional<uint32_t> KeyTable::current(unsigned underlying_function, uint32_t key) const {
  const uint32_t index = index_of(key);
  if (index >= directory_.size() || !directory_[index].live ||
      directory_[index].underlying_function != underlying_function)
    return std::nullopt;
  return key_of(index);
}

bool KeyTable::replace(uint32_t key, const spec::MemoryKeyEntry& entry) {
  const uint32_t index = index_of(key);
  Place& place = directory_[index];
  assert(live(key) != nullptr && place.in_flight == 0);
  if (context_memory_.write_memory_key(index, entry) == DmaStatus::fault)
    return false;
  cache_[index % cache_lines] = {.index = index, .entry = entry};
  change();
  place.variant = static_cast<uint8_t>(entry.variant());
  set_parent(place, entry.parent());
  return true;
}

// A reset takes regions back before their windows; a removed region counts none.
void KeyTable::set_parent(Place& place, uint32_t parent) {
  if (place.parent != 0 && directory_[place.parent].live)
    --directory_[place.parent].windows;
  place.parent = parent;
  if (parent != 0)
    ++directory_[parent].windows;
}

bool KeyTable::is_idle(uint32_t key) {
  Place& place = directory_[index_of(key)];
#ifdef FPGA_VERBS_MUTANT_KEY_TAKEN_BACK_UNDER_READ
  return true;
#endif
  place.awaited = place.in_flight != 0;
  change();
  return !place.awaited;
}

void KeyTable::end_waiting(Place& place) {
  if (!place.awaited)
    return;
  place.awaited = false;
  ++idle_count_;
  for (const Waker& waker : idle_)
    waker.wake();
}

void KeyTable::destroy(uint32_t key) {
  assert(live(key) != nullptr && !live(key)->quiet);
  free_index(index_of(key));
}

void KeyTable::free_index(uint32_t index) {
  change();
  if (cache_[index % cache_lines].index == index)
    cache_[index % cache_lines].index = none;
  set_parent(directory_[index], 0);
  end_waiting(directory_[index]);
  directory_[index] = {.variant = static_cast<uint8_t>(directory_[index].variant + 1)};
  append(free_, index);
  ++free_count_;
}

void KeyTable::reset_function(unsigned underlying_function) {
  List others;
  while (quiet_list_.first != none) {
    const uint32_t index = take(quiet_list_);
    if (directory_[index].underlying_function != underlying_function)
      append(others, index);
  }
  quiet_list_ = others;
  for (uint32_t index = reserved_indices; index < directory_.size(); ++index)
    if (directory_[index].live && directory_[index].underlying_function == underlying_function)
      free_index(index);
}

bool KeyTable::verify() const {
  uint32_t free = 0;
  for (uint32_t index = free_.first; index != none; index = directory_[index].next, ++free)
    if (directory_[index].live)
      return false;
  uint32_t used = 0;
  for (const Place& place : directory_)
    used += place.live ? 1 : 0;
  return free == free_count_ && free + used + reserved_indices == directory_.size();
}

} // namespace fpga_verbs::hca
