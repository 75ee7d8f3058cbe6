#include "hca/queue_pair/queue_pair_state_cache.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <span>
#include <utility>

namespace fpga_verbs::hca {

namespace {

constexpr uint32_t multicast = 0xffffff; // names a multicast group, never a queue pair

constexpr uint8_t generation_of(uint32_t queue_pair_number) {
  return static_cast<uint8_t>(queue_pair_number >> spec::queue_pair_index_bits);
}

constexpr uint32_t number_of(uint32_t index, uint8_t generation) {
  return index | uint32_t{generation} << spec::queue_pair_index_bits;
}

} // namespace

QueuePairStateCache::QueuePairStateCache(const HcaParameters& parameters, Counters& counters,
                                         ContextMemory& context_memory)
    : counters_(counters), context_memory_(context_memory), index_count_(parameters.queue_pairs),
      directory_(std::bit_ceil(parameters.queue_pairs)),
      slots_(std::min(parameters.queue_pair_contexts_cached, parameters.queue_pairs)) {
  reset();
}

void QueuePairStateCache::reset() {
  std::ranges::fill(directory_, Entry{});
  directory_[0].live_number = 1;
  std::ranges::fill(slots_, Slot{});
  free_ = {};
  quiet_list_ = {};
  ended_list_ = {};
  hand_ = 0;
  for (uint32_t index = reserved_indices; index < index_count_; ++index)
    append_index(free_, index);
  free_count_ = index_count_ - reserved_indices;
}

// Lists of indices: takes from the front, appends at the end.

void QueuePairStateCache::append_index(List& list, uint32_t index) {
  directory_[index].next = none;
  (list.last == none ? list.first : directory_[list.last].next) = index;
  list.last = index;
}

uint32_t QueuePairStateCache::take_index(List& list) {
  const uint32_t index = list.first;
  list.first = directory_[index].next;
  if (list.first == none)
    list.last = none;
  return index;
}

// Look-up.

Absence QueuePairStateCache::absence(unsigned underlying_function, uint32_t queue_pair_number) const {
  const uint32_t index = index_of(queue_pair_number);
  if (index >= index_count_ || queue_pair_number > multicast || !directory_[index].is_live())
    return Absence::unknown;
  const Entry& entry = directory_[index];
  if (entry.underlying_function != underlying_function)
    return Absence::other_function;
  return entry.generation == generation_of(queue_pair_number) ? Absence::none : Absence::wrong_generation;
}

// A queue pair that is not cached or does not exist.
QueuePairStateCache::Found QueuePairStateCache::fetch(unsigned underlying_function,
                                                      uint32_t queue_pair_number) {
  const Absence why = absence(underlying_function, queue_pair_number);
  if (why != Absence::none)
    return {.absence = why};
  const uint32_t index = index_of(queue_pair_number);
  ++counters_.device.queue_pair_cache_misses;
  Slot* const slot = take_slot(index);
  if (slot == nullptr)
    return {.absence = Absence::context_memory_fault};
  const auto context = std::as_writable_bytes(std::span{&slot->parts, 1});
  if (context_memory_.read_queue_pair(index, context) == DmaStatus::fault ||
      !is_context_of(slot->parts, directory_[index])) {
    give_up_slot(index);
    return {.absence = Absence::context_memory_fault};
  }
  return {.queue_pair = &slot->parts};
}

// The slot to evict: an empty one, or an unpinned one not used since the clock hand passed; if all are
// pinned, one of these.
QueuePairStateCache::Slot& QueuePairStateCache::victim() {
  constexpr size_t rounds = 3; // to pass the used ones, to find one, and to find all pinned
  for (size_t looks = 0;; ++looks) {
    Slot& slot = slots_[hand_];
    hand_ = hand_ + 1 == slots_.size() ? 0 : hand_ + 1;
    if (slot.index == none || looks == rounds * slots_.size())
      return slot;
    if (!std::exchange(slot.used, false) && directory_[slot.index].pins == 0)
      return slot;
  }
}

QueuePairStateCache::Slot* QueuePairStateCache::take_slot(uint32_t index) {
  Slot& slot = victim();
  if (slot.index != none) {
    const auto context = std::as_bytes(std::span{&slot.parts, 1});
    if (slot.dirty && context_memory_.write_queue_pair(slot.index, context) == DmaStatus::fault)
      return nullptr;
    directory_[slot.index].put_in(nullptr);
  }
  slot.index = index;
  slot.dirty = false;
  slot.used = true;
  directory_[index].put_in(&slot);
  return &slot;
}

void QueuePairStateCache::give_up_slot(uint32_t index) {
  Slot& slot = *directory_[index].slot;
  slot.index = none;
  slot.dirty = false;
  directory_[index].put_in(nullptr);
}

// Context memory belongs to the control function; the device still checks the returned data.
bool QueuePairStateCache::is_context_of(const QueuePairParts& parts, const Entry& entry) const {
  return parts.control.valid() != 0 && parts.control.generation() == entry.generation &&
         parts.control.underlying_function() == entry.underlying_function;
}

const spec::QueuePairControl* QueuePairStateCache::find_control(unsigned underlying_function,
                                                                uint32_t queue_pair_number) {
  const Found found = find(underlying_function, queue_pair_number);
  return found ? &found->control : nullptr;
}

bool QueuePairStateCache::enter_error(unsigned underlying_function, uint32_t queue_pair_number) {
  const Found found = find(underlying_function, queue_pair_number);
  if (!found || found->control.state() == spec::QueuePairState::error)
    return false;
  parts(underlying_function, queue_pair_number)->control.set_state(spec::QueuePairState::error);
  end(index_of(queue_pair_number));
  return true;
}

bool QueuePairStateCache::enter_send_queue_error(unsigned underlying_function, uint32_t queue_pair_number) {
  const Found found = find(underlying_function, queue_pair_number);
  if (!found || found->control.state() == spec::QueuePairState::error ||
      found->control.state() == spec::QueuePairState::send_queue_error)
    return false;
  parts(underlying_function, queue_pair_number)->control.set_state(spec::QueuePairState::send_queue_error);
  return true;
}

void QueuePairStateCache::set_send_error(unsigned underlying_function, uint32_t queue_pair_number,
                                         bool failed) {
  if (QueuePairParts* found = parts(underlying_function, queue_pair_number); found != nullptr)
    found->control.set_send_error(failed ? 1 : 0);
}

// Ended queue pairs. One may be gone at its turn; the block that takes it checks.

void QueuePairStateCache::end(uint32_t index) {
  // An earlier one listed under this index is gone, with nothing outstanding.
  directory_[index].ended_number = number_of(index, directory_[index].generation);
  if (directory_[index].ended)
    return;
  directory_[index].ended = true;
  directory_[index].next_ended = none;
  (ended_list_.last == none ? ended_list_.first : directory_[ended_list_.last].next_ended) = index;
  ended_list_.last = index;
  ended_.wake();
}

std::optional<QueuePairStateCache::Named> QueuePairStateCache::take_ended() {
  if (ended_list_.first == none)
    return std::nullopt;
  const uint32_t index = ended_list_.first;
  Entry& entry = directory_[index];
  ended_list_.first = entry.next_ended;
  if (ended_list_.first == none)
    ended_list_.last = none;
  entry.ended = false;
  return Named{.underlying_function = entry.underlying_function, .queue_pair_number = entry.ended_number};
}

std::optional<QueuePairStateCache::Copy> QueuePairStateCache::copy_at(uint32_t index) {
  if (index >= index_count_ || !directory_[index].is_live())
    return std::nullopt;
  const Entry& entry = directory_[index];
  Copy copy{.number = number_of(index, entry.generation),
            .underlying_function = entry.underlying_function,
            .parts = {}};
  if (entry.slot != nullptr) {
    copy.parts = entry.slot->parts;
    return copy;
  }
  const auto context = std::as_writable_bytes(std::span{&copy.parts, 1});
  if (context_memory_.read_queue_pair(index, context) == DmaStatus::fault ||
      !is_context_of(copy.parts, entry))
    return std::nullopt;
  return copy;
}

std::optional<uint32_t> QueuePairStateCache::take_next(unsigned underlying_function, uint32_t& index) const {
  while (index < index_count_) {
    const uint32_t looked_at = index++;
    const Entry& entry = directory_[looked_at];
    if (entry.is_live() && entry.underlying_function == underlying_function)
      return number_of(looked_at, entry.generation);
  }
  return std::nullopt;
}

// Pins.

uint32_t QueuePairStateCache::pins(uint32_t queue_pair_number) const {
  const Entry* entry = live_entry(queue_pair_number);
  return entry != nullptr ? entry->pins : 0;
}

void QueuePairStateCache::become_quiet(uint32_t index) {
  Entry& entry = directory_[index];
  if (entry.quiet || !(entry.quiescing || entry.watched))
    return;
  entry.quiet = true;
  entry.watched = false;
  append_index(quiet_list_, index);
  quiet_.wake();
}

void QueuePairStateCache::quiesce(uint32_t queue_pair_number) {
  Entry* entry = live_entry(queue_pair_number);
  assert(entry != nullptr);
  entry->quiescing = true;
  end(index_of(queue_pair_number));
  if (entry->pins == 0)
    become_quiet(index_of(queue_pair_number));
}

void QueuePairStateCache::watch(uint32_t queue_pair_number) {
  Entry* entry = live_entry(queue_pair_number);
  assert(entry != nullptr);
  entry->watched = true;
  if (entry->pins == 0)
    become_quiet(index_of(queue_pair_number));
}

void QueuePairStateCache::watch_next(uint32_t queue_pair_number) {
  Entry* entry = live_entry(queue_pair_number);
  assert(entry != nullptr);
  entry->watched = true;
}

std::optional<QueuePairStateCache::Named> QueuePairStateCache::take_quiet() {
  if (quiet_list_.first == none)
    return std::nullopt;
  const uint32_t index = take_index(quiet_list_);
  Entry& entry = directory_[index];
  entry.quiet = false;
  return Named{.underlying_function = entry.underlying_function,
               .queue_pair_number = number_of(index, entry.generation)};
}

void QueuePairStateCache::resume(uint32_t queue_pair_number) {
  Entry* entry = live_entry(queue_pair_number);
  assert(entry != nullptr);
  entry->quiescing = false;
}

// Creation and end.

void QueuePairStateCache::reset_requester_and_responder(QueuePairParts& queue_pair) {
  queue_pair.requester = {};
  queue_pair.completion = {};
  queue_pair.responder = {};
  // The newest work request is the one before next, so nothing is outstanding.
  queue_pair.requester.set_posted(queue_pair.requester.next() - 1);
}

// The index that has been free longest, with its next generation first.
bool QueuePairStateCache::choose_number(const std::function<bool(uint32_t)>& accepts) {
  constexpr unsigned generations = 256;
  for (uint32_t left = free_count_; left != 0; --left) {
    const uint32_t index = free_.first;
    uint8_t& generation = directory_[index].generation;
    for (unsigned step = 0; step < generations; ++step) {
      if (accepts(number_of(index, generation)))
        return true;
      generation = next_generation(index, generation);
    }
    append_index(free_, take_index(free_));
  }
  return false;
}

std::optional<uint32_t> QueuePairStateCache::create(unsigned underlying_function,
                                                    const spec::QueuePairControl& control) {
  if (free_.first == none)
    return std::nullopt;
  Slot* slot = take_slot(free_.first);
  if (slot == nullptr)
    return std::nullopt;
  const uint32_t index = take_index(free_);
  --free_count_;
  Entry& entry = directory_[index];
  entry.live_number = number_of(index, entry.generation);
  entry.underlying_function = static_cast<uint8_t>(underlying_function);
  entry.put_in(slot);
  slot->parts.control = control;
  slot->parts.control.set_valid(1);
  slot->parts.control.set_underlying_function(underlying_function);
  slot->parts.control.set_generation(entry.generation);
  slot->parts.control.set_virtual_queue_pair(number_of(index, entry.generation));
  reset_requester_and_responder(slot->parts);
  slot->dirty = true;
  return number_of(index, entry.generation);
}

void QueuePairStateCache::destroy(uint32_t queue_pair_number) {
  [[maybe_unused]] const Entry* entry = live_entry(queue_pair_number);
  assert(entry != nullptr && entry->pins == 0 && !entry->quiet);
  free_index(index_of(queue_pair_number));
}

uint8_t QueuePairStateCache::next_generation(uint32_t index, uint8_t generation) {
  const auto next = static_cast<uint8_t>(generation + 1);
  return number_of(index, next) == multicast ? static_cast<uint8_t>(next + 1) : next;
}

void QueuePairStateCache::free_index(uint32_t index) {
  Entry& entry = directory_[index];
  if (entry.slot != nullptr)
    give_up_slot(index);
  const uint8_t generation = next_generation(index, entry.generation);
  // An ended queue pair stays in this list until a block takes it.
  entry = {.next_ended = entry.next_ended,
           .ended_number = entry.ended_number,
           .generation = generation,
           .underlying_function = entry.underlying_function,
           .ended = entry.ended};
  append_index(free_, index);
  ++free_count_;
}

void QueuePairStateCache::reset_function(unsigned underlying_function) {
  List others;
  while (quiet_list_.first != none) {
    const uint32_t index = take_index(quiet_list_);
    if (directory_[index].underlying_function != underlying_function)
      append_index(others, index);
  }
  quiet_list_ = others;
  for (uint32_t index = reserved_indices; index < index_count_; ++index)
    if (directory_[index].is_live() && directory_[index].underlying_function == underlying_function) {
      end(index);
      free_index(index);
    }
}

const char* QueuePairStateCache::verify() const {
  constexpr const char* wrong = "queue_pair_state_cache: its contexts and lists are inconsistent";
  uint32_t free = 0;
  for (uint32_t index = free_.first; index != none; index = directory_[index].next, ++free)
    if (directory_[index].is_live() || directory_[index].slot != nullptr)
      return wrong;
  for (uint32_t index = quiet_list_.first; index != none; index = directory_[index].next)
    if (!directory_[index].is_live() || !directory_[index].quiet)
      return wrong;
  uint32_t live = 0;
  for (uint32_t index = 0; index < index_count_; ++index) {
    const Entry& entry = directory_[index];
    live += entry.is_live() ? 1 : 0;
    if ((entry.slot != nullptr && entry.slot->index != index) || (!entry.is_live() && entry.pins != 0))
      return wrong;
  }
  uint32_t filled = 0;
  for (const Slot& slot : slots_) {
    if (slot.index != none && directory_[slot.index].slot != &slot)
      return wrong;
    filled += slot.index != none ? 1 : 0;
  }
  for (const Entry& entry : directory_)
    filled -= entry.slot != nullptr ? 1 : 0;
  const bool all_counted =
      free == free_count_ && live + free + reserved_indices == index_count_ && filled == 0;
  return all_counted ? nullptr : wrong;
}

} // namespace fpga_verbs::hca
