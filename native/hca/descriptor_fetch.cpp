#include "hca/descriptor_fetch.h"

#include "spec/commands.h"
#include "spec/parameters.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

constexpr uint32_t index_of(uint32_t queue_pair_number) {
  return queue_pair_number & ((1u << spec::queue_pair_index_bits) - 1);
}

constexpr uint32_t entries_of(const spec::QueuePairControl& control) {
  return 1u << control.receive_queue_log2();
}

// Work requests from `head` on that a tail leaves, modulo 2^16. More than the queue holds: the tail is wrong.
constexpr uint32_t posted(uint32_t head, uint32_t tail) { return static_cast<uint16_t>(tail - head); }

bool is_sound(const spec::WorkQueueReference& reference, const spec::QueuePairControl& control,
              uint32_t sequence_number) {
  constexpr uint32_t longest =
      spec::ReceiveEntryHeader::bytes + spec::gather_entries * spec::GatherEntry::bytes;
  const uint32_t offset = reference.offset();
  const uint32_t length = reference.length();
  return reference.sequence_number() == sequence_number && reference.reserved_is_zero() &&
         length >= spec::ReceiveEntryHeader::bytes && length <= longest &&
         offset % spec::work_queue_entry_alignment == 0 &&
         offset % spec::page_bytes + length <= spec::page_bytes &&
         uint64_t{offset} + length <= control.receive_entry_bytes();
}

} // namespace

DescriptorFetch::DescriptorFetch(const HcaParameters& parameters, Counters& counters, HostPort& host,
                                 QueuePairStateCache& queue_pairs, MemoryTranslation& translation,
                                 EventPort& events, DataLink<spec::QueuePairNotice, 16>& descriptors_wanted,
                                 DataLink<spec::QueuePairNotice, 16>& descriptors_fetched)
    : reader_(counters, host, translation, events), queue_pairs_(queue_pairs), events_(events),
      descriptors_wanted_(descriptors_wanted), descriptors_fetched_(descriptors_fetched),
      queue_({.entries = entries,
              .lists = entries,
              .underlying_functions = parameters.underlying_functions,
              .ready_on_push = true}),
      flushes_(parameters.queue_pairs) {}

bool DescriptorFetch::step() {
  const bool taken = take_wanted();
  return answer_next() || taken;
}

// Nothing is stored while nobody waits: an empty queue is bypassed, in RTL too.
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
  const uint16_t list = queue_.arbitrate(descriptors_fetched_.credits());
  if (list == no_list)
    return false;
  answer(queue_.pop(list).unit);
  return true;
}

void DescriptorFetch::answer(const spec::QueuePairNotice& wanted) {
  spec::QueuePairNotice fetched = wanted;
  fetched.set_kind(take(wanted.underlying_function(), wanted.queue_pair_number())
                       ? spec::QueuePairNoticeKind::descriptor_taken
                       : spec::QueuePairNoticeKind::no_descriptor);
  descriptors_fetched_.push(fetched);
}

DescriptorFetch::Line& DescriptorFetch::line_of(uint32_t queue_pair_number) {
  return lines_[index_of(queue_pair_number) % lines];
}

bool DescriptorFetch::take_prefetched(unsigned underlying_function, uint32_t queue_pair_number) {
  QueuePairParts* const queue_pair = queue_pairs_.parts(underlying_function, queue_pair_number);
  const Line& line = line_of(queue_pair_number);
  return queue_pair != nullptr && queue_pair->responder.receive_prefetched() != 0 &&
         line.queue_pair_number == queue_pair_number && take_from(line, *queue_pair);
}

bool DescriptorFetch::take(unsigned underlying_function, uint32_t queue_pair_number) {
  QueuePairParts* const queue_pair = queue_pairs_.parts(underlying_function, queue_pair_number);
  if (queue_pair == nullptr || queue_pair->control.receive_entry_bytes() == 0)
    return false;
  spec::QueuePairResponder& responder = queue_pair->responder;
  Line& line = line_of(queue_pair_number);
  Refusal refusal = Refusal::none;
  if (responder.receive_prefetched() == 0 || line.queue_pair_number != queue_pair_number) {
    line.queue_pair_number = queue_pair_number;
    refusal = prefetch(underlying_function, *queue_pair, line);
    if (refusal == Refusal::none && responder.receive_prefetched() == 0)
      return false;
  }
  if (refusal == Refusal::none && !take_from(line, *queue_pair))
    refusal = Refusal::receive_queue_mismatch;
  if (refusal != Refusal::none)
    fail(underlying_function, queue_pair_number, refusal, responder.receive_head());
  return refusal == Refusal::none;
}

// Takes the reference at the head, which is in the line. False: it is not sound.
bool DescriptorFetch::take_from(const Line& line, QueuePairParts& queue_pair) {
  auto& [control, requester, completion, responder] = queue_pair;
  const uint32_t head = responder.receive_head();
  const uint32_t slot = head & (entries_of(control) - 1);
  const spec::WorkQueueReference& reference = line.references[slot % line_references];
  if (!is_sound(reference, control, head))
    return false;
  responder.set_receive_head(head + 1);
  responder.set_receive_prefetched(responder.receive_prefetched() - 1);
  responder.set_receive_entry_offset(reference.offset());
  responder.set_receive_entry_length(reference.length());
  return true;
}

// Reads the references from the head to the end of their cache line, or to the tail. None of them are left
// from before: they are read once.
Refusal DescriptorFetch::prefetch(unsigned underlying_function, QueuePairParts& queue_pair, Line& line) {
  auto& [control, requester, completion, responder] = queue_pair;
  responder.set_receive_prefetched(0);
  const uint32_t head = responder.receive_head();
  const uint32_t slot = head & (entries_of(control) - 1);
  const uint32_t first = slot % line_references;
  const uint32_t to_line_end = std::min(line_references - first, entries_of(control) - slot);
  bool is_short = posted(head, responder.receive_tail()) < to_line_end;
#ifdef FPGA_VERBS_MUTANT_RECEIVE_TAIL_NOT_READ_AGAIN
  is_short = is_short && responder.receive_tail() == 0;
#endif
  if (is_short)
    if (const Refusal refusal = read_tail(underlying_function, queue_pair); refusal != Refusal::none)
      return refusal;
  const uint32_t count = std::min(posted(head, responder.receive_tail()), to_line_end);
  if (count == 0)
    return Refusal::none;
  constexpr size_t bytes = spec::WorkQueueReference::bytes;
  if (!reader_.read(underlying_function, control.receive_queue_pages(), slot * bytes, &line.references[first],
                    count * bytes))
    return Refusal::receive_queue_fault;
  responder.set_receive_prefetched(count);
  return Refusal::none;
}

Refusal DescriptorFetch::read_tail(unsigned underlying_function, QueuePairParts& queue_pair) {
  spec::ReceiveQueueTail tail;
  if (!reader_.read(underlying_function, queue_pair.control.receive_tail_address(), &tail, sizeof(tail)))
    return Refusal::receive_queue_fault;
  if (!tail.reserved_is_zero() ||
      posted(queue_pair.responder.receive_head(), tail.tail()) > entries_of(queue_pair.control))
    return Refusal::receive_queue_mismatch;
  queue_pair.responder.set_receive_tail(tail.tail());
  return Refusal::none;
}

void DescriptorFetch::fail(unsigned underlying_function, uint32_t queue_pair_number, Refusal refusal,
                           uint32_t sequence_number) {
  // A queue pair in ERR has failed before, and comes here again when it is flushed.
  if (!queue_pairs_.enter_error(underlying_function, queue_pair_number))
    return;
  spec::EventUnit event;
  event.set_type(spec::EventType::queue_pair_fatal);
  event.set_underlying_function(underlying_function);
  event.set_reason(static_cast<uint32_t>(refusal));
  event.set_object(queue_pair_number);
  event.set_detail(sequence_number);
  events_.report(event);
}

bool DescriptorFetch::doorbell(unsigned underlying_function,
                               spec::underlying_function::ReceiveDoorbell doorbell) {
  const uint32_t number = doorbell.queue();
  QueuePairParts* const queue_pair = queue_pairs_.parts(underlying_function, number);
  if (doorbell.shared() != 0 || queue_pair == nullptr)
    return false;
  spec::QueuePairResponder& responder = queue_pair->responder;
  const uint32_t known = posted(responder.receive_head(), responder.receive_tail());
  const uint32_t claimed = posted(responder.receive_head(), doorbell.tail());
  if (claimed > known && claimed <= entries_of(queue_pair->control))
    responder.set_receive_tail(doorbell.tail());
  if (queue_pair->control.state() == spec::QueuePairState::error)
    ask_for_flush(underlying_function, number);
  return true;
}

void DescriptorFetch::ask_for_flush(unsigned underlying_function, uint32_t queue_pair_number) {
  const uint32_t index = index_of(queue_pair_number);
  WaitingFlush& flush = flushes_[index];
  flush.queue_pair_number = queue_pair_number;
  flush.underlying_function = static_cast<uint8_t>(underlying_function);
  if (flush.waits)
    return;
  flush.waits = true;
  flush.next = none;
  (last_flush_ == none ? first_flush_ : flushes_[last_flush_].next) = index;
  last_flush_ = index;
  flush_.wake();
}

std::optional<DescriptorFetch::Flush> DescriptorFetch::take_flush() {
  if (first_flush_ == none)
    return std::nullopt;
  WaitingFlush& flush = flushes_[first_flush_];
  first_flush_ = flush.next;
  if (first_flush_ == none)
    last_flush_ = none;
  flush.waits = false;
  return Flush{.underlying_function = flush.underlying_function,
               .queue_pair_number = flush.queue_pair_number};
}

} // namespace fpga_verbs::hca
