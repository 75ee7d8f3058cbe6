#include "hca/receive/descriptor_fetch.h"

#include "hca/queue_pair/end_to_end_credits.h"
#include "spec/commands.h"
#include "spec/parameters.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

constexpr uint32_t index_of(uint32_t queue_pair_number) {
  return queue_pair_number & ((1u << spec::queue_pair_index_bits) - 1);
}

// Name of a line: queue pairs and shared receive queues have separate numbers.
constexpr uint32_t tag_of(uint32_t number, bool is_shared) {
  return number | uint32_t{is_shared} << spec::underlying_function::ReceiveDoorbell::queue_width;
}

// Work requests between `head` and a tail, modulo 2^16. More than the queue has entries: the tail is wrong.
constexpr uint32_t posted(uint32_t head, uint32_t tail) { return static_cast<uint16_t>(tail - head); }

bool is_sound(const spec::WorkQueueReference& reference, uint32_t entry_bytes, uint32_t sequence_number) {
  constexpr uint32_t longest =
      spec::ReceiveEntryHeader::bytes + spec::gather_entries * spec::GatherEntry::bytes;
  const uint32_t offset = reference.offset();
  const uint32_t length = reference.length();
  return reference.sequence_number() == sequence_number && reference.reserved_is_zero() &&
         length >= spec::ReceiveEntryHeader::bytes && length <= longest &&
         offset % spec::work_queue_entry_alignment == 0 &&
         offset % spec::page_bytes + length <= spec::page_bytes && uint64_t{offset} + length <= entry_bytes;
}

} // namespace

DescriptorFetch::DescriptorFetch(const HcaParameters& parameters, Counters& counters, HostPort& host,
                                 QueuePairStateCache& queue_pairs, SharedReceiveQueues& shared_receive_queues,
                                 MemoryTranslation& translation, EventPort& events,
                                 DataLink<spec::QueuePairNotice>& descriptors_wanted,
                                 DataLink<spec::QueuePairNotice>& descriptors_fetched)
    : reader_(counters, host, translation, events), queue_pairs_(queue_pairs),
      shared_receive_queues_(shared_receive_queues), events_(events), descriptors_wanted_(descriptors_wanted),
      descriptors_fetched_(descriptors_fetched),
      queue_({.entries = entries,
              .lists = entries,
              .underlying_functions = parameters.underlying_functions,
              .ready_on_push = true}),
      doorbells_(parameters.queue_pairs) {}

bool DescriptorFetch::step() {
  const bool looked = look_at_armed();
  const bool taken = take_wanted();
  return (answer_next() || taken || looked) &&
         (queue_.lists_ready().any() || !descriptors_wanted_.empty() || shared_receive_queues_.any_armed());
}

// Stores nothing while no unit waits: the unit bypasses an empty queue, in RTL too.
bool DescriptorFetch::take_wanted() {
  if (descriptors_wanted_.empty() || queue_.inbound_credits() == 0)
    return false;
  const spec::QueuePairNotice& wanted = descriptors_wanted_.front();
  if (queue_.empty() && descriptors_fetched_.has_credit())
    answer(wanted);
  else
    queue_.push(wanted.queue_pair_number(), wanted, wanted.underlying_function());
  descriptors_wanted_.pop();
  return true;
}

bool DescriptorFetch::answer_next() {
  const uint16_t list = queue_.arbitrate(descriptors_fetched_.has_credit() ? 1 : 0);
  if (list == no_list)
    return false;
  const spec::QueuePairNotice wanted = queue_.front(list);
  queue_.pop_front(list);
  answer(wanted);
  return true;
}

void DescriptorFetch::answer(const spec::QueuePairNotice& wanted) {
  spec::QueuePairNotice fetched = wanted;
  QueuePairParts* const queue_pair =
      queue_pairs_.parts(wanted.underlying_function(), wanted.queue_pair_number());
  const bool taken =
      queue_pair != nullptr && take(wanted.underlying_function(), wanted.queue_pair_number(), *queue_pair);
  fetched.set_kind(taken ? spec::QueuePairNoticeKind::descriptor_taken
                         : spec::QueuePairNoticeKind::no_descriptor);
  descriptors_fetched_.push(fetched);
}

// Queues.

DescriptorFetch::Queue DescriptorFetch::own_queue(uint32_t queue_pair_number,
                                                  const QueuePairParts& queue_pair) {
  const auto& [control, requester, completion, responder] = queue_pair;
  return {.number = queue_pair_number,
          .is_shared = false,
          .entries = 1u << control.receive_queue_log2(),
          .pages = control.receive_queue_pages(),
          .entry_bytes = control.receive_entry_bytes(),
          .tail_address = control.receive_tail_address(),
          .head = responder.receive_head(),
          .tail = responder.receive_tail(),
          .prefetched = responder.receive_prefetched()};
}

DescriptorFetch::Queue DescriptorFetch::queue_of(uint32_t number, const SharedReceiveQueue& shared) {
  return {.number = number,
          .is_shared = true,
          .entries = 1u << shared.queue_log2,
          .pages = shared.queue_pages,
          .entry_bytes = shared.entry_bytes,
          .tail_address = shared.tail_address,
          .head = shared.head,
          .tail = shared.tail,
          .prefetched = shared.prefetched};
}

// Where the queue stands goes back to the shared queue, or to the context of the queue pair whose own it is.
void DescriptorFetch::keep(const Queue& queue, ReceiveQueueState& responder, SharedReceiveQueue* shared) {
  if (shared != nullptr) {
    shared->head = static_cast<uint16_t>(queue.head);
    shared->tail = static_cast<uint16_t>(queue.tail);
    shared->prefetched = static_cast<uint8_t>(queue.prefetched);
    return;
  }
  responder.set_receive_head(queue.head);
  responder.set_receive_tail(queue.tail);
  responder.set_receive_prefetched(queue.prefetched);
}

DescriptorFetch::Line& DescriptorFetch::line_of(const Queue& queue) {
  // The first queue pairs and shared queues created have separate lines.
  const uint32_t index = queue.is_shared ? ~queue.number : index_of(queue.number);
  return lines_[index % lines];
}

bool DescriptorFetch::take_prefetched(unsigned underlying_function, uint32_t queue_pair_number,
                                      QueuePairParts& queue_pair) {
  SharedReceiveQueue* shared = nullptr;
  Queue queue;
  if (const uint32_t number = queue_pair.control.shared_receive_queue(); number != 0) {
    shared = shared_receive_queues_.find(underlying_function, number);
    // Checks a queue that falls below its limit.
    if (shared == nullptr || (shared->limit != 0 && posted(shared->head, shared->tail) <= shared->limit))
      return false;
    queue = queue_of(number, *shared);
  } else {
    queue = own_queue(queue_pair_number, queue_pair);
  }
  const Line& line = line_of(queue);
  if (queue.prefetched == 0 || line.tag != tag_of(queue.number, queue.is_shared) ||
      !take_from(line, queue, queue_pair.responder))
    return false;
  keep(queue, queue_pair.responder, shared);
  return true;
}

DescriptorFetch::Answer DescriptorFetch::take_at_once(unsigned underlying_function,
                                                      uint32_t queue_pair_number,
                                                      QueuePairParts& queue_pair) {
  const bool may_read =
      is_at_once_ && descriptors_wanted_.empty() && queue_.empty() && descriptors_fetched_.empty();
  // A queue of the queue pair's own gives what is prefetched when it is read.
  if ((!may_read || queue_pair.control.shared_receive_queue() != 0) &&
      take_prefetched(underlying_function, queue_pair_number, queue_pair))
    return Answer::taken;
  if (!may_read)
    return Answer::later;
  return take(underlying_function, queue_pair_number, queue_pair) ? Answer::taken : Answer::none;
}

bool DescriptorFetch::take(unsigned underlying_function, uint32_t queue_pair_number,
                           QueuePairParts& queue_pair) {
  bool taken = false;
  Refusal refusal = Refusal::none;
  uint32_t head = 0;
  if (const uint32_t number = queue_pair.control.shared_receive_queue(); number != 0) {
    SharedReceiveQueue* const shared = shared_receive_queues_.find(underlying_function, number);
    // Leaves a request from before the queue pair failed, or had to end, to the others.
    if (shared == nullptr || queue_pair.control.destroying() != 0 ||
        queue_pair.control.state() == spec::QueuePairState::error)
      return false;
    Queue queue = queue_of(number, *shared);
    refusal = shared->failure;
    if (refusal == Refusal::none) {
      refusal = take_next(underlying_function, queue, queue_pair.responder, taken);
      keep(queue, queue_pair.responder, shared);
      if (refusal != Refusal::none)
        fail_shared(underlying_function, number, *shared, refusal);
      else if (taken)
        look_at_limit(underlying_function, number, *shared);
    }
    head = shared->head;
  } else if (queue_pair.control.receive_entry_bytes() != 0) {
    Queue queue = own_queue(queue_pair_number, queue_pair);
    refusal = take_next(underlying_function, queue, queue_pair.responder, taken);
    keep(queue, queue_pair.responder, nullptr);
    head = queue.head;
  }
  if (refusal != Refusal::none)
    fail(underlying_function, queue_pair_number, refusal, head);
  return taken;
}

// Takes what comes next, if anything is posted.
Refusal DescriptorFetch::take_next(unsigned underlying_function, Queue& queue, ReceiveQueueState& responder,
                                   bool& taken) {
  Line& line = line_of(queue);
  const uint32_t tag = tag_of(queue.number, queue.is_shared);
  if (queue.prefetched == 0 || line.tag != tag) {
    line.tag = tag;
    const Refusal refusal = prefetch(underlying_function, queue, line);
    if (refusal != Refusal::none || queue.prefetched == 0)
      return refusal;
  }
  taken = take_from(line, queue, responder);
  return taken ? Refusal::none : Refusal::receive_queue_mismatch;
}

// Takes the reference at the head, which is in the line. False: it is not sound.
bool DescriptorFetch::take_from(const Line& line, Queue& queue, ReceiveQueueState& responder) {
  const uint32_t slot = queue.head & (queue.entries - 1);
  const spec::WorkQueueReference& reference = line.references[slot % line_references];
  if (!is_sound(reference, queue.entry_bytes, queue.head))
    return false;
  responder.set_receive_entry_number(queue.head);
  responder.set_receive_entry_offset(reference.offset());
  responder.set_receive_entry_length(reference.length());
  queue.head = static_cast<uint16_t>(queue.head + 1);
  --queue.prefetched;
  return true;
}

// Reads the references from the head to the end of their cache line, or to the tail. The line has none left:
// each is read once.
Refusal DescriptorFetch::prefetch(unsigned underlying_function, Queue& queue, Line& line) {
  queue.prefetched = 0;
  const uint32_t slot = queue.head & (queue.entries - 1);
  const uint32_t first = slot % line_references;
  const uint32_t to_line_end = std::min(line_references - first, queue.entries - slot);
  bool is_short = posted(queue.head, queue.tail) < to_line_end;
#ifdef FPGA_VERBS_MUTANT_RECEIVE_TAIL_NOT_READ_AGAIN
  is_short = is_short && queue.tail == 0;
#endif
  if (is_short)
    if (const Refusal refusal = read_tail(underlying_function, queue); refusal != Refusal::none)
      return refusal;
  const uint32_t count = std::min(posted(queue.head, queue.tail), to_line_end);
  if (count == 0)
    return Refusal::none;
  constexpr size_t bytes = spec::WorkQueueReference::bytes;
  if (!reader_.read(underlying_function, queue.pages, slot * bytes, &line.references[first], count * bytes))
    return Refusal::receive_queue_fault;
  queue.prefetched = count;
  return Refusal::none;
}

Refusal DescriptorFetch::read_tail(unsigned underlying_function, Queue& queue) {
  spec::ReceiveQueueTail tail;
  if (!reader_.read(underlying_function, queue.tail_address, &tail, sizeof(tail)))
    return Refusal::receive_queue_fault;
  if (!tail.reserved_is_zero() || posted(queue.head, tail.tail()) > queue.entries)
    return Refusal::receive_queue_mismatch;
  queue.tail = tail.tail();
  return Refusal::none;
}

// Limits (InfiniBand volume 1, 10.2.9.3 and 11.6.3.3).

bool DescriptorFetch::look_at_armed() {
  const auto armed = shared_receive_queues_.take_armed();
  if (!armed)
    return false;
  if (SharedReceiveQueue* const shared =
          shared_receive_queues_.find(armed->underlying_function, armed->number);
      shared != nullptr)
    look_at_limit(armed->underlying_function, armed->number, *shared);
  return true;
}

// Reports once that fewer work requests are left than the limit; the driver must set the limit again.
void DescriptorFetch::look_at_limit(unsigned underlying_function, uint32_t number,
                                    SharedReceiveQueue& shared) {
  if (shared.limit == 0 || posted(shared.head, shared.tail) >= shared.limit)
    return;
#ifndef FPGA_VERBS_MUTANT_LIMIT_WITHOUT_TAIL
  Queue queue = queue_of(number, shared);
  if (const Refusal refusal = read_tail(underlying_function, queue); refusal != Refusal::none) {
    fail_shared(underlying_function, number, shared, refusal);
    return;
  }
  shared.tail = static_cast<uint16_t>(queue.tail);
  if (posted(shared.head, shared.tail) >= shared.limit)
    return;
#endif
  shared.limit = 0;
  report(spec::EventType::shared_receive_queue_limit_reached, underlying_function, number, Refusal::none,
         posted(shared.head, shared.tail));
}

// Failures.

void DescriptorFetch::fail(unsigned underlying_function, uint32_t queue_pair_number, Refusal refusal,
                           uint32_t sequence_number) {
  // A queue pair in ERR has failed before, and gets here again at its flush.
  if (queue_pairs_.enter_error(underlying_function, queue_pair_number))
    report(spec::EventType::queue_pair_fatal, underlying_function, queue_pair_number, refusal,
           sequence_number);
}

void DescriptorFetch::fail_shared(unsigned underlying_function, uint32_t number, SharedReceiveQueue& shared,
                                  Refusal refusal) {
  shared.failure = refusal;
  shared.limit = 0;
  report(spec::EventType::shared_receive_queue_error, underlying_function, number, refusal, shared.head);
}

void DescriptorFetch::report(spec::EventType type, unsigned underlying_function, uint32_t object,
                             Refusal refusal, uint32_t detail) {
  spec::EventUnit event;
  event.set_type(type);
  event.set_underlying_function(underlying_function);
  event.set_reason(static_cast<uint32_t>(refusal));
  event.set_object(object);
  event.set_detail(detail);
  events_.report(event);
}

bool DescriptorFetch::doorbell(unsigned underlying_function,
                               spec::underlying_function::ReceiveDoorbell doorbell) {
  const uint32_t number = doorbell.queue();
  if (doorbell.shared() != 0)
    return shared_receive_queues_.find(underlying_function, number) != nullptr;
  QueuePairParts* const queue_pair = queue_pairs_.parts(underlying_function, number);
  if (queue_pair == nullptr)
    return false;
  // The queue pair has no posted receives; a doorbell from before its reset is stale.
  if (queue_pair->control.state() == spec::QueuePairState::reset)
    return true;
  ReceiveQueueState& responder = queue_pair->responder;
  const uint32_t known = posted(responder.receive_head(), responder.receive_tail());
  const uint32_t claimed = posted(responder.receive_head(), doorbell.tail());
  if (claimed > known && claimed <= uint32_t{1} << queue_pair->control.receive_queue_log2())
    responder.set_receive_tail(doorbell.tail());
  bool tells = owes_credits(*queue_pair);
#ifdef FPGA_VERBS_MUTANT_NO_UNSOLICITED_ACKNOWLEDGE
  tells = false;
#endif
  if (queue_pair->control.state() == spec::QueuePairState::error || tells)
    pass_on(underlying_function, number);
  return true;
}

void DescriptorFetch::pass_on(unsigned underlying_function, uint32_t queue_pair_number) {
  const uint32_t index = index_of(queue_pair_number);
  WaitingDoorbell& rung = doorbells_[index];
  rung.queue_pair_number = queue_pair_number;
  rung.underlying_function = static_cast<uint8_t>(underlying_function);
  if (rung.waits)
    return;
  rung.waits = true;
  rung.next = none;
  (last_doorbell_ == none ? first_doorbell_ : doorbells_[last_doorbell_].next) = index;
  last_doorbell_ = index;
  waker_.wake();
}

std::optional<DescriptorFetch::RungDoorbell> DescriptorFetch::take_doorbell() {
  if (first_doorbell_ == none)
    return std::nullopt;
  WaitingDoorbell& rung = doorbells_[first_doorbell_];
  first_doorbell_ = rung.next;
  if (first_doorbell_ == none)
    last_doorbell_ = none;
  rung.waits = false;
  return RungDoorbell{.underlying_function = rung.underlying_function,
                      .queue_pair_number = rung.queue_pair_number};
}

} // namespace fpga_verbs::hca
