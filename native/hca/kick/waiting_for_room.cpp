#include "hca/kick/waiting_for_room.h"

#include <cassert>

namespace fpga_verbs::hca {

namespace {

constexpr uint32_t index_of(uint32_t queue_pair_number) {
  return queue_pair_number & ((uint32_t{1} << spec::queue_pair_index_bits) - 1);
}

constexpr uint8_t generation_of(uint32_t queue_pair_number) {
  return static_cast<uint8_t>(queue_pair_number >> spec::queue_pair_index_bits);
}

} // namespace

spec::RoomWait WaitingForRoom::wait_of(uint32_t queue_pair_number) const {
  return waits(queue_pair_number) ? wait_at(entries_[index_of(queue_pair_number)].place)
                                  : spec::RoomWait::none;
}

void WaitingForRoom::append(unsigned place, const Waiter& waiter) {
  const uint32_t index = index_of(waiter.queue_pair_number);
  Entry& entry = entries_[index];
  assert(entry.place == nowhere);
  entry.generation = generation_of(waiter.queue_pair_number);
  entry.underlying_function = static_cast<uint8_t>(waiter.underlying_function);
  entry.level = waiter.level;
  link(place, index);
}

WaitingForRoom::Waiter WaitingForRoom::take(unsigned place) {
  const uint32_t index = lists_[place].first;
  const Waiter taken = waiter(index);
  unlink(index);
  return taken;
}

void WaitingForRoom::unbind(uint32_t queue_pair_number) {
  if (!waits(queue_pair_number))
    return;
  const uint32_t index = index_of(queue_pair_number);
  const Entry& entry = entries_[index];
  if (!is_lane(entry.place))
    return;
#ifdef FPGA_VERBS_MUTANT_WAITER_KEPT_AT_LANE
  return;
#endif
  unlink(index);
  link(of_level(entry.underlying_function, entry.level), index);
}

void WaitingForRoom::release(uint32_t queue_pair_number) {
  if (!waits(queue_pair_number))
    return;
#ifdef FPGA_VERBS_MUTANT_WAITER_NOT_LET_GO
  return;
#endif
  unlink(index_of(queue_pair_number));
  link(let_go, index_of(queue_pair_number));
  notice();
}

void WaitingForRoom::reset_function(unsigned underlying_function) {
  for (uint32_t index = 0; index < entries_.size(); ++index)
    if (entries_[index].place != nowhere && entries_[index].underlying_function == underlying_function)
      unlink(index);
}

WaitingForRoom::Waiter WaitingForRoom::waiter(uint32_t index) const {
  const Entry& entry = entries_[index];
  return {.underlying_function = entry.underlying_function,
          .level = entry.level,
          .queue_pair_number = index | uint32_t{entry.generation} << spec::queue_pair_index_bits};
}

bool WaitingForRoom::waits(uint32_t queue_pair_number) const {
  const Entry& entry = entries_[index_of(queue_pair_number)];
  return entry.place != nowhere && entry.generation == generation_of(queue_pair_number);
}

void WaitingForRoom::link(unsigned place, uint32_t index) {
  List& list = lists_[place];
  Entry& entry = entries_[index];
  entry.place = static_cast<uint8_t>(place);
  entry.previous = list.last;
  entry.next = none;
  (list.last == none ? list.first : entries_[list.last].next) = index;
  list.last = index;
  occupied_.set(place);
}

void WaitingForRoom::unlink(uint32_t index) {
  Entry& entry = entries_[index];
  List& list = lists_[entry.place];
  (entry.previous == none ? list.first : entries_[entry.previous].next) = entry.next;
  (entry.next == none ? list.last : entries_[entry.next].previous) = entry.previous;
  if (list.first == none)
    occupied_.clear(entry.place);
  entry.place = nowhere;
}

const char* WaitingForRoom::verify() const {
  constexpr const char* wrong = "waiting_for_room: queue pairs that wait are not where they are said to be";
  size_t waiting = 0;
  for (unsigned place = 0; place < places; ++place) {
    if (occupied_.test(place) != (lists_[place].first != none))
      return wrong;
    for (uint32_t index = lists_[place].first; index != none; index = entries_[index].next, ++waiting)
      if (entries_[index].place != place || waiting > entries_.size())
        return wrong;
  }
  for (const Entry& entry : entries_)
    waiting -= entry.place != nowhere ? 1 : 0;
  return waiting == 0 ? nullptr : wrong;
}

} // namespace fpga_verbs::hca
