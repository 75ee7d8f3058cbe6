#include "hca/complete/completion_queue.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace fpga_verbs::hca {

namespace {

constexpr uint32_t nearly_full = 8; // an eighth of the queue is left

// Entries that a solicited arm waits for (InfiniBand volume 1, 11.4.2.2).
bool is_solicited(const spec::CompletionQueueEntry& entry) {
  return entry.solicited() != 0 || entry.status() != spec::CompletionStatus::success;
}

} // namespace

CompletionQueue::CompletionQueue(const HcaParameters& parameters, Counters& counters, HostPort& host,
                                 const Clock& clock, MemoryTranslation& translation,
                                 QueuePairStateCache& queue_pairs, EventPort& events)
    : clock_frequency_(parameters.clock_frequency), counters_(counters), host_(host), clock_(clock),
      translation_(translation), queue_pairs_(queue_pairs), events_(events),
      queue_count_(parameters.completion_queues), queues_(parameters.completion_queues),
      free_(parameters.completion_queues, true), deadlines_(parameters.completion_queues),
      failed_(parameters.completion_queues) {
  free_.clear(0);
}

bool CompletionQueue::write(unsigned underlying_function, uint32_t completion_queue_number,
                            spec::CompletionQueueEntry& entry) {
  if (completion_queue_number == 0)
    return false;
  const bool is_usable =
      exists(underlying_function, completion_queue_number) && !queues_[completion_queue_number].in_error;
  Queue& queue = queues_[is_usable ? completion_queue_number : 0];
  if (!is_usable || !has_room(queue) || !write_entry(queue, entry)) [[unlikely]] {
    ++counters_.function[underlying_function].completions_dropped;
    if (is_usable)
      fail(completion_queue_number);
    return false;
  }
  if (is_solicited(entry))
    queue.solicited = queue.tail;
  if (queue.armed == Armed::any || (queue.armed == Armed::solicited && is_solicited(entry)))
    await(completion_queue_number, queue.awaited + 1);
  return true;
}

// Reads the host's head again only when the copy says that the queue is nearly full.
bool CompletionQueue::has_room(Queue& queue) {
#ifdef FPGA_VERBS_MUTANT_COMPLETION_QUEUE_OVERRUN_IGNORED
  return true;
#endif
  const uint32_t entries = uint32_t{1} << queue.entries_log2;
  if (queue.tail - queue.head >= entries - entries / nearly_full && !read_head(queue))
    return false;
  return queue.tail - queue.head < entries;
}

bool CompletionQueue::read_head(Queue& queue) {
  spec::RingHead record;
  if (host_.read(queue.underlying_function, queue.head_address, &record, sizeof record) == DmaStatus::fault) {
    report_fault(queue, queue.head_address);
    return false;
  }
  believe(queue, record.head());
  return true;
}

// Ignores a head beyond the written entries, or one that goes back.
void CompletionQueue::believe(Queue& queue, uint32_t head) {
  if (queue.tail - head <= queue.tail - queue.head)
    queue.head = head;
}

bool CompletionQueue::write_entry(Queue& queue, spec::CompletionQueueEntry& entry) {
  const uint32_t entries = uint32_t{1} << queue.entries_log2;
  const uint32_t phase = (queue.tail & entries) == 0 ? 1 : 0;
  entry.set_timestamp(clock_.now());
  entry.set_phase(phase);
  entry.set_sequence(queue.tail);
  const uint32_t slot = queue.tail & (entries - 1);
  const uint32_t place = slot * spec::CompletionQueueEntry::bytes;
  const uint32_t area = queue.variable ? reference_pages(queue.entries_log2) * spec::page_bytes : 0;
  if (!write_at(queue, area + place, &entry, sizeof entry))
    return false;
  if (queue.variable) {
    spec::CompletionQueueReference reference;
    reference.set_offset(place);
    reference.set_length(spec::CompletionQueueEntry::bytes);
    reference.set_phase(phase);
    if (!write_at(queue, slot * spec::CompletionQueueReference::bytes, &reference, sizeof reference))
      return false;
  }
  ++queue.tail;
  ++count_;
  if ((watched_ >> queue.underlying_function & 1) != 0)
    watch_->completion(queue.underlying_function, entry);
  return true;
}

// The table of a queue stays as it is: the page that was written last is not looked up again.
bool CompletionQueue::write_at(Queue& queue, uint32_t offset, const void* source, uint32_t bytes) {
  if (const uint32_t page = offset / spec::page_bytes; page != queue.page) [[unlikely]] {
    const std::optional<uint64_t> found = translation_.translate(queue.page_table, page * spec::page_bytes);
    if (!found)
      return false;
    queue.page = page;
    queue.page_address = *found;
  }
  const uint64_t address = queue.page_address + offset % spec::page_bytes;
  if (host_.write(queue.underlying_function, address, source, bytes) == DmaStatus::ok)
    return true;
  report_fault(queue, address);
  return false;
}

void CompletionQueue::report_fault(const Queue& queue, uint64_t address) {
  ++counters_.function[queue.underlying_function].dma_faults;
  spec::EventUnit event;
  event.set_type(spec::EventType::dma_fault);
  event.set_underlying_function(queue.underlying_function);
  event.set_detail(address);
  events_.report(event);
}

// Events.

bool CompletionQueue::arm(unsigned underlying_function,
                          spec::underlying_function::CompletionQueueArm request) {
  const uint32_t number = request.completion_queue();
  if (!exists(underlying_function, number))
    return false;
  Queue& queue = queues_[number];
  believe(queue, request.head());
  if (request.arm_sequence() == queue.event_sequence)
    return true;
  if (queue.armed != Armed::any)
    queue.armed = request.solicited() != 0 ? Armed::solicited : Armed::any;
  queue.arm_sequence = static_cast<uint8_t>(request.arm_sequence());
  const uint32_t waiting = queue.tail - request.head();
  const uint32_t newest = queue.armed == Armed::any ? queue.tail : queue.solicited;
  // With a head beyond the tail no entry is waiting.
  const bool finds = static_cast<int32_t>(waiting) > 0 && queue.tail - newest < waiting;
  const uint32_t least = queue.armed == Armed::any ? waiting : std::max(queue.awaited, 1u);
  await(number, finds ? least : 0);
  return true;
}

// The entries that an arm waits for are there: the event is raised now, or is due.
void CompletionQueue::await(uint32_t completion_queue_number, uint32_t awaited) {
  Queue& queue = queues_[completion_queue_number];
  queue.awaited = awaited;
  if (awaited == 0)
    deadlines_.clear(completion_queue_number);
  else if (awaited >= queue.moderation_count)
    signal(completion_queue_number);
  else if (!deadlines_.is_set(completion_queue_number))
    deadlines_.set(completion_queue_number, clock_.now() + queue.moderation_ticks);
}

void CompletionQueue::moderate(uint32_t completion_queue_number, uint32_t count, uint32_t period) {
  Queue& queue = queues_[completion_queue_number];
  constexpr uint64_t microseconds = 1'000'000; // of a second
  queue.moderation_count = period == 0 ? 0 : count;
  queue.moderation_ticks = period * clock_frequency_ / microseconds;
  deadlines_.clear(completion_queue_number);
  await(completion_queue_number, queue.awaited);
}

void CompletionQueue::signal(uint32_t completion_queue_number) {
  Queue& queue = queues_[completion_queue_number];
  queue.armed = Armed::no;
  queue.awaited = 0;
  deadlines_.clear(completion_queue_number);
  queue.event_sequence = queue.arm_sequence;
  spec::EventUnit event;
  event.set_type(spec::EventType::completion);
  event.set_underlying_function(queue.underlying_function);
  event.set_event_queue(queue.event_queue);
  event.set_reason(queue.arm_sequence);
  event.set_object(completion_queue_number);
  event.set_detail(queue.user_handle);
  events_.report(event);
}

// Failure.

void CompletionQueue::fail(uint32_t completion_queue_number) {
  Queue& queue = queues_[completion_queue_number];
  queue.in_error = true;
  failed_.set(completion_queue_number);
  failed_waker_.wake();
  spec::EventUnit event;
  event.set_type(spec::EventType::completion_queue_error);
  event.set_underlying_function(queue.underlying_function);
  event.set_object(completion_queue_number);
  event.set_detail(queue.user_handle);
  events_.report(event);
}

bool CompletionQueue::step() {
  const size_t due = deadlines_.take_due(clock_.now());
  if (due != BitMask::none) {
    signal(static_cast<uint32_t>(due));
    return true;
  }
  if (failing_ == 0) {
    if (!failed_.any())
      return false;
    failing_ = static_cast<uint32_t>(failed_.find_first());
    next_index_ = 0;
  }
  const unsigned function = queues_[failing_].underlying_function;
  uint32_t index = next_index_;
  if (const std::optional<uint32_t> number = queue_pairs_.take_next(function, index)) {
    fail_queue_pair(function, *number);
    next_index_ = index;
    return true;
  }
  failed_.clear(failing_);
  failing_ = 0;
  return failed_.any();
}

void CompletionQueue::fail_queue_pair(unsigned underlying_function, uint32_t queue_pair_number) {
  const auto found = queue_pairs_.find(underlying_function, queue_pair_number);
  if (!found || (found->control.send_completion_queue() != failing_ &&
                 found->control.receive_completion_queue() != failing_))
    return;
  if (queue_pairs_.enter_error(underlying_function, queue_pair_number)) {
    spec::EventUnit event;
    event.set_type(spec::EventType::queue_pair_fatal);
    event.set_underlying_function(underlying_function);
    event.set_reason(static_cast<uint32_t>(spec::Refusal::completion_queue_failed));
    event.set_object(queue_pair_number);
    event.set_detail(failing_);
    events_.report(event);
  }
}

// Creation and end.

std::optional<uint32_t> CompletionQueue::create(unsigned underlying_function,
                                                const spec::CreateCompletionQueueInput& input,
                                                uint32_t page_table) {
  if (!free_.any())
    return std::nullopt;
  const auto number = static_cast<uint32_t>(free_.take_first());
  queues_[number] = {.exists = true,
                     .variable = input.variable() != 0,
                     .underlying_function = static_cast<uint8_t>(underlying_function),
                     .event_queue = static_cast<uint8_t>(input.event_queue()),
                     .entries_log2 = static_cast<uint8_t>(input.entries_log2()),
                     .page_table = page_table,
                     .head_address = input.head_address(),
                     .user_handle = input.user_handle()};
  return number;
}

spec::ManagementStatus CompletionQueue::resize(uint32_t completion_queue_number, unsigned entries_log2,
                                               uint32_t& page_table) {
  Queue& queue = queues_[completion_queue_number];
  if (queue.in_error)
    return spec::ManagementStatus::bad_state;
  if (!read_head(queue))
    return spec::ManagementStatus::mailbox_fault;
  if (queue.tail - queue.head > uint32_t{1} << entries_log2)
    return spec::ManagementStatus::bad_parameter;
  queue.entries_log2 = static_cast<uint8_t>(entries_log2);
  std::swap(queue.page_table, page_table);
  queue.page = no_page;
  return spec::ManagementStatus::success;
}

bool CompletionQueue::exists(unsigned underlying_function, uint32_t completion_queue_number) const {
  return completion_queue_number < queue_count_ && queues_[completion_queue_number].exists &&
         queues_[completion_queue_number].underlying_function == underlying_function;
}

uint32_t CompletionQueue::destroy(uint32_t completion_queue_number) {
  assert(queues_[completion_queue_number].exists);
  const uint32_t page_table = queues_[completion_queue_number].page_table;
  queues_[completion_queue_number] = {};
  deadlines_.clear(completion_queue_number);
  free_.set(completion_queue_number);
  failed_.clear(completion_queue_number);
  if (failing_ == completion_queue_number)
    failing_ = 0;
  return page_table;
}

void CompletionQueue::reset_function(unsigned underlying_function) {
  for (uint32_t number = reserved_numbers; number < queues_.size(); ++number)
    if (exists(underlying_function, number))
      destroy(number);
}

const char* CompletionQueue::verify() const {
  for (uint32_t number = 0; number < queues_.size(); ++number) {
    const Queue& queue = queues_[number];
    if (queue.exists && number < reserved_numbers)
      return "completion_queue: a queue has the number that names none";
    if (free_.test(number) == queue.exists && number >= reserved_numbers)
      return "completion_queue: a number is free and in use";
    if (queue.tail - queue.head > uint32_t{1} << queue.entries_log2)
      return "completion_queue: a queue holds more entries than it has room for";
    if (deadlines_.is_set(number) != (queue.awaited != 0))
      return "completion_queue: an event is due for no entry, or never";
    if (queue.awaited != 0 && (queue.armed == Armed::no || queue.awaited >= queue.moderation_count))
      return "completion_queue: an event that is due has not come";
    if (failed_.test(number) && !queue.in_error)
      return "completion_queue: a queue without error fails its queue pairs";
  }
  return nullptr;
}

} // namespace fpga_verbs::hca
