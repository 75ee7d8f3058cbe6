#include "hca/complete/event_queue.h"

#include "hca/memory/memory_translation.h"

#include <algorithm>
#include <bit>

namespace fpga_verbs::hca {

namespace {

constexpr uint64_t never = ~uint64_t{0};
constexpr uint32_t most_lost = (uint32_t{1} << spec::EventQueueEntry::lost_width) - 1;

constexpr unsigned index_of(unsigned underlying_function, unsigned event_queue) {
  return underlying_function * spec::event_queues_per_function + event_queue;
}

// Asynchronous errors of a queue pair, completion queue or shared receive queue (InfiniBand volume 1,
// 11.6.3).
bool is_affiliated_error(spec::EventType type) {
  switch (type) {
  case spec::EventType::completion_queue_error:
  case spec::EventType::queue_pair_fatal:
  case spec::EventType::queue_pair_request_error:
  case spec::EventType::queue_pair_access_error:
  case spec::EventType::shared_receive_queue_error:
    return true;
  default:
    return false;
  }
}

} // namespace

EventQueue::EventQueue(const HcaParameters& parameters, Counters& counters, HostPort& host,
                       const Clock& clock, MemoryTranslation& translation)
    : parameters_(parameters), counters_(counters), host_(host), clock_(clock), translation_(translation) {}

EventQueue::Queue& EventQueue::queue(unsigned underlying_function, unsigned event_queue) {
  return all_[index_of(underlying_function, event_queue)];
}

spec::ManagementStatus EventQueue::create(unsigned underlying_function,
                                          const spec::CreateEventQueueInput& input, uint32_t page_table) {
  const unsigned log2 = input.entries_log2();
  if (input.event_queue() >= spec::event_queues_per_function || log2 < smallest_entries_log2 ||
      log2 > largest_entries_log2 || input.pages() != pages(log2) ||
      input.head_address() % spec::RingHead::bytes != 0 || !input.reserved_is_zero())
    return spec::ManagementStatus::bad_parameter;
  if (input.observes() != 0 && input.event_queue() == 0)
    return spec::ManagementStatus::bad_parameter;
  Queue& created = queue(underlying_function, input.event_queue());
  if (created.exists)
    return spec::ManagementStatus::in_use;
  created = Queue{};
  created.exists = true;
  created.observes = input.observes() != 0;
  created.entries_log2 = static_cast<uint8_t>(log2);
  created.page_table = page_table;
  created.head_address = input.head_address();
  created.moderation_count = static_cast<uint16_t>(input.moderation_count());
  created.moderation_ticks = input.moderation_time() * parameters_.clock_frequency / 1'000'000;
  if (created.observes)
    observing_ |= uint64_t{1} << index_of(underlying_function, input.event_queue());
  follow_observers();
  return spec::ManagementStatus::success;
}

std::optional<uint32_t> EventQueue::destroy(unsigned underlying_function, unsigned event_queue) {
  if (event_queue >= spec::event_queues_per_function)
    return std::nullopt;
  Queue& destroyed = queue(underlying_function, event_queue);
  if (!destroyed.exists)
    return std::nullopt;
  set_deadline(index_of(underlying_function, event_queue), never);
  destroyed.exists = false;
  observing_ &= ~(uint64_t{1} << index_of(underlying_function, event_queue));
  follow_observers();
  for (UnreadError& error : unread_errors_)
    if (error.underlying_function == underlying_function && error.event_queue == event_queue)
      error.valid = false;
  return destroyed.page_table;
}

void EventQueue::arm(unsigned underlying_function, unsigned event_queue) {
  if (event_queue >= spec::event_queues_per_function)
    return;
  Queue& armed = queue(underlying_function, event_queue);
  if (!armed.exists)
    return;
  read_head(underlying_function, armed);
  armed.armed = true;
  armed.signaled = armed.tail;
  const unsigned index = index_of(underlying_function, event_queue);
  if (armed.tail != armed.head)
    signal(index);
  else
    set_deadline(index, never);
}

void EventQueue::report(const spec::EventUnit& event) {
  const unsigned function = event.underlying_function();
  const unsigned number = event.event_queue();
  FunctionCounters& counters = counters_.function[function];
  if (number >= spec::event_queues_per_function || !queue(function, number).exists) {
    tell_observers(event);
    ++counters.events_dropped;
    return;
  }
  if (is_affiliated_error(event.type()) && is_unread(event))
    return;
  tell_observers(event);
  Queue& reported = queue(function, number);
  if (!has_room(function, reported) || !write_entry(function, reported, event)) {
    ++counters.events_dropped;
    ++reported.lost;
    return;
  }
  moderate(index_of(function, number));
}

EventQueue::UnreadError& EventQueue::unread_error(const spec::EventUnit& event) {
  const uint32_t key =
      event.object() ^ static_cast<uint32_t>(event.type()) << 24 ^ event.underlying_function() << 16;
  return unread_errors_[(key * 0x9e3779b1u) >> 24];
}

bool EventQueue::is_unread(const spec::EventUnit& event) {
  const UnreadError& error = unread_error(event);
  if (!error.valid || error.type != event.type() || error.object != event.object() ||
      error.underlying_function != event.underlying_function() || error.event_queue != event.event_queue())
    return false;
  Queue& reported = queue(error.underlying_function, error.event_queue);
  read_head(error.underlying_function, reported);
  // The entry is in [head, tail).
  return reported.tail - error.number <= reported.tail - reported.head;
}

void EventQueue::read_head(unsigned underlying_function, Queue& queue) {
  spec::RingHead record;
  if (host_.read(underlying_function, queue.head_address, &record, sizeof record) == DmaStatus::fault) {
    ++counters_.function[underlying_function].dma_faults;
    return;
  }
  // Ignores a head beyond the written entries, or one that goes back.
  if (queue.tail - record.head() <= queue.tail - queue.head)
    queue.head = record.head();
}

spec::EventQueueEntry EventQueue::entry_of(const spec::EventUnit& event) const {
  spec::EventQueueEntry entry;
  entry.set_type(event.type());
  entry.set_underlying_function(event.underlying_function());
  entry.set_reason(event.reason());
  entry.set_offset(event.offset());
  entry.set_object(event.object());
  entry.set_detail(event.detail());
  entry.set_timestamp(clock_.now());
  return entry;
}

// The control function observes all functions.
void EventQueue::follow_observers() {
  constexpr uint64_t of_a_function = (uint64_t{1} << spec::event_queues_per_function) - 1;
  observed_ = watched_;
  for (unsigned function = 0; function < spec::underlying_functions; ++function)
    if ((observing_ >> index_of(function, 0) & of_a_function) != 0)
      observed_ |= function == 0 ? ~uint32_t{0} : uint32_t{1} << function;
}

void EventQueue::write_to_observers(const spec::EventUnit& event) {
  if (event.type() == spec::EventType::completion || event.type() == spec::EventType::management_completion)
    return;
  const unsigned function = event.underlying_function();
  if ((watched_ >> function & 1) != 0)
    watch_->event(function, entry_of(event));
  copy_to_observing(0, event);
  if (function != 0)
    copy_to_observing(function, event);
}

// An event that such a queue loses is not lost for the function.
void EventQueue::copy_to_observing(unsigned underlying_function, const spec::EventUnit& event) {
  for (unsigned number = 1; number < spec::event_queues_per_function; ++number) {
    Queue& observing = queue(underlying_function, number);
    if (!observing.exists || !observing.observes)
      continue;
    if (has_room(underlying_function, observing) && write(underlying_function, observing, event))
      moderate(index_of(underlying_function, number));
    else
      ++observing.lost;
  }
}

bool EventQueue::has_room(unsigned underlying_function, Queue& queue) {
  const uint32_t entries = uint32_t{1} << queue.entries_log2;
  if (queue.tail - queue.head == entries)
    read_head(underlying_function, queue);
  return queue.tail - queue.head != entries;
}

// An entry for an event, if the host can be reached.
bool EventQueue::write(unsigned underlying_function, Queue& queue, const spec::EventUnit& event) {
  spec::EventQueueEntry entry = entry_of(event);
  entry.set_lost(std::min(queue.lost, most_lost));
  entry.set_phase(~queue.tail >> queue.entries_log2);
#ifdef FPGA_VERBS_MUTANT_PHASE_BIT_STUCK
  entry.set_phase(1);
#endif
  entry.set_sequence(queue.tail);

  const uint32_t index = queue.tail & ((uint32_t{1} << queue.entries_log2) - 1);
  const std::optional<uint64_t> address =
      translation_.translate(queue.page_table, uint64_t{index} * spec::EventQueueEntry::bytes);
  if (!address)
    return false;
  if (host_.write(underlying_function, *address, &entry, sizeof entry) == DmaStatus::fault) {
    ++counters_.function[underlying_function].dma_faults;
    return false;
  }
  queue.lost = 0;
  ++queue.tail;
  return true;
}

bool EventQueue::write_entry(unsigned underlying_function, Queue& queue, const spec::EventUnit& event) {
  const uint32_t number = queue.tail;
  if (!write(underlying_function, queue, event))
    return false;
  if (is_affiliated_error(event.type()))
    unread_error(event) = {.valid = true,
                           .type = event.type(),
                           .underlying_function = static_cast<uint8_t>(underlying_function),
                           .event_queue = static_cast<uint8_t>(event.event_queue()),
                           .object = event.object(),
                           .number = number};
  return true;
}

// Interrupts now, after a time, or only after more events; a criterion of 0 holds nothing back.
void EventQueue::moderate(unsigned index) {
  const Queue& moderated = all_[index];
  if (!moderated.armed)
    return;
  const uint32_t waiting = moderated.tail - moderated.signaled;
  const bool enough = moderated.moderation_count != 0 && waiting >= moderated.moderation_count;
  const bool unmoderated = moderated.moderation_count == 0 && moderated.moderation_ticks == 0;
  if (enough || unmoderated)
    signal(index);
  else if (moderated.moderation_ticks != 0 && moderated.deadline == never)
    set_deadline(index, clock_.now() + moderated.moderation_ticks);
}

void EventQueue::signal(unsigned index) {
  Queue& signaled = all_[index];
  signaled.armed = false;
  signaled.signaled = signaled.tail;
  set_deadline(index, never);
  host_.interrupt(index / spec::event_queues_per_function, index % spec::event_queues_per_function);
}

void EventQueue::set_deadline(unsigned index, uint64_t deadline) {
  all_[index].deadline = deadline;
  const uint64_t bit = uint64_t{1} << index;
  timed_ = deadline == never ? timed_ & ~bit : timed_ | bit;
  deadline_ = never;
  for (uint64_t left = timed_; left != 0; left &= left - 1)
    deadline_ = std::min(deadline_, all_[static_cast<unsigned>(std::countr_zero(left))].deadline);
}

bool EventQueue::step() {
  const uint64_t now = clock_.now();
  for (uint64_t left = deadline_ <= now ? timed_ : 0; left != 0; left &= left - 1) {
    const unsigned index = static_cast<unsigned>(std::countr_zero(left));
    if (all_[index].deadline <= now) {
      signal(index);
      return deadline_ <= now;
    }
  }
  return false;
}

void EventQueue::reset_function(unsigned underlying_function) {
  for (unsigned event_queue = 0; event_queue < spec::event_queues_per_function; ++event_queue)
    destroy(underlying_function, event_queue);
}

const char* EventQueue::verify() const {
  uint64_t earliest = never;
  for (unsigned index = 0; index < queues_; ++index) {
    const Queue& checked = all_[index];
    const bool timed = (timed_ >> index & 1) != 0;
    if (checked.tail - checked.head > uint32_t{1} << checked.entries_log2)
      return "event_queue: a queue holds more entries than it has room for";
    if (timed != (checked.deadline != never))
      return "event_queue: a deadline is not listed";
    if (timed && !(checked.exists && checked.armed))
      return "event_queue: an interrupt is due from a queue that is not armed";
    earliest = std::min(earliest, checked.deadline);
  }
  return earliest == deadline_ ? nullptr : "event_queue: the next deadline is not the earliest";
}

} // namespace fpga_verbs::hca
