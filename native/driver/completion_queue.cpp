#include "driver/completion_queue.h"

#include "driver/explanation.h"
#include "driver/queue_pair.h"
#include "driver/queue_pair_table.h"
#include "spec/registers.h"

#include <cerrno>

namespace fpga_verbs::driver {

CompletionQueue::~CompletionQueue() {
  function_.free(ring_);
  function_.free(head_);
}

namespace {

int check_entries(uint32_t entries) {
  if (entries != 0 && entries <= spec::queue_entries_maximum)
    return 0;
  return explain(EINVAL, "cqe is 1 to " + std::to_string(spec::queue_entries_maximum) + ", not " +
                             std::to_string(entries));
}

} // namespace

int CompletionQueue::create(uint32_t entries, unsigned event_queue) {
  if (const int error = check_entries(entries))
    return error;
  entries_log2_ = log2_of(entries);
  ring_ = function_.allocate(sizeof(spec::CompletionQueueEntry) << entries_log2_);
  head_ = function_.allocate(sizeof(spec::RingHead));
  if (!ring_ || !head_)
    return function_.allocation_error();
  spec::CreateCompletionQueueInput input;
  input.set_event_queue(event_queue);
  input.set_entries_log2(entries_log2_);
  input.set_pages(static_cast<uint32_t>(ring_.bytes / spec::page_bytes));
  input.set_head_address(head_.address);
  const auto made = management_.execute(spec::ManagementOpcode::create_completion_queue, 0,
                                        MailboxInput(input).add_pages(ring_).bytes());
  number_ = made.number;
  return made.error;
}

int CompletionQueue::check_held(uint32_t size) const {
  uint32_t held = 0;
  while (held < entries() && is_written(taken_ + held))
    ++held;
  if (held <= size)
    return 0;
  return explain(EINVAL, "cqe is at least the number of completions that lie in the queue, which is " +
                             std::to_string(held) + "; poll them, or ask for more");
}

// No thread takes or drops completions meanwhile, so the head does not move. The device writes all later ones
// to the new ring with continued numbers; the driver copies those between head and tail there.
int CompletionQueue::resize(uint32_t entries) {
  if (const int error = check_entries(entries))
    return error;
  const std::scoped_lock lock(mutex_);
  const unsigned log2 = log2_of(entries);
  if (log2 == entries_log2_)
    return 0;
  const uint32_t size = uint32_t{1} << log2;
  if (const int error = check_held(size))
    return error;
  const DeviceMemory ring = function_.allocate(size * sizeof(spec::CompletionQueueEntry));
  if (!ring)
    return function_.allocation_error();
  publish();
  // As if written in the previous round.
  for (uint32_t index = taken_; index - taken_ < size; ++index) {
    spec::CompletionQueueEntry former;
    former.set_phase(phase_of(index - size, log2));
    former.set_sequence(index - size);
    std::memcpy(ring.at(place_in(index, log2)), &former, sizeof former);
  }
  spec::ResizeCompletionQueueInput input;
  input.set_entries_log2(log2);
  input.set_pages(static_cast<uint32_t>(ring.bytes / spec::page_bytes));
  const auto answer = management_.execute(spec::ManagementOpcode::resize_completion_queue, number_,
                                          MailboxInput(input).add_pages(ring).bytes());
  if (answer.error != 0) {
    function_.free(ring);
    const int error = check_held(size); // more may have come
    return error != 0 ? error : answer.error;
  }
  const uint32_t tail = answer.number;
  for (uint32_t index = taken_; index != tail; ++index) {
    spec::CompletionQueueEntry entry;
    std::memcpy(&entry, ring_.at(place_of(index)), sizeof entry);
    entry.set_phase(phase_of(index, log2));
    std::memcpy(ring.at(place_in(index, log2)), &entry, sizeof entry);
  }
  function_.free(ring_);
  ring_ = ring;
  entries_log2_ = log2;
  return 0;
}

int CompletionQueue::moderate(uint16_t count, uint16_t period) {
  spec::ModerateCompletionQueueInput input;
  input.set_count(count);
  input.set_period(period);
  return management_
      .execute(spec::ManagementOpcode::moderate_completion_queue, number_, MailboxInput(input).bytes())
      .error;
}

int CompletionQueue::explain_failure() const {
  if (failure() == EOVERFLOW)
    return explain(EOVERFLOW, "the completion queue was overrun: more completions arrived than it holds");
  return failure() == 0 ? 0 : function_.explain_loss();
}

int CompletionQueue::destroy() {
  return management_.execute(spec::ManagementOpcode::destroy_completion_queue, number_).error;
}

// Its running number belongs to a later round.
bool CompletionQueue::is_overwritten(uint32_t index) const {
  constexpr unsigned sequence_bits = 31;
  const uint32_t later = last_of(index).sequence() - index;
  return static_cast<int32_t>(later << (32 - sequence_bits)) > 0;
}

bool CompletionQueue::take(Completion& completion) {
  if (is_overwritten(taken_)) {
    fail(EOVERFLOW);
    return false;
  }
  while (is_written(taken_)) {
    std::memcpy(&completion.entry, ring_.at(place_of(taken_)), sizeof completion.entry);
    ++taken_;
    QueuePair* const queue_pair = queue_pairs_.find(completion.entry.queue_pair_number());
    if (queue_pair == nullptr)
      continue; // what is left of a queue pair that was destroyed
    completion.id = queue_pair->complete(completion);
    completion.entry.set_queue_pair_number(queue_pair->virtual_number());
    return true;
  }
  return false;
}

void CompletionQueue::arm(bool solicited) {
  spec::underlying_function::CompletionQueueArm arm;
  arm.set_completion_queue(number_);
  arm.set_solicited(solicited ? 1 : 0);
  const std::scoped_lock lock(mutex_);
  if (static_cast<int32_t>(seen_ - taken_) < 0)
    seen_ = taken_;
  while (seen_ - taken_ < entries() && is_written(seen_))
    ++seen_;
  arm.set_arm_sequence(events_taken_.load(std::memory_order_seq_cst));
  arm.set_head(seen_); // the device believes that there is room so far: take() finds what was written over
  function_.write64(spec::underlying_function::completion_queue_arm, arm.bits);
}

void CompletionQueue::forget(QueuePair& queue_pair) {
  const std::scoped_lock lock(mutex_);
  for (uint32_t index = taken_; index - taken_ < entries() && is_written(index); ++index) {
    spec::CompletionQueueEntry entry;
    std::memcpy(&entry, ring_.at(place_of(index)), sizeof entry);
    if (entry.queue_pair_number() != queue_pair.number())
      continue;
    if (entry.work_queue() != 0 && queue_pair.shared_receive_queue() != nullptr)
      queue_pair.shared_receive_queue()->complete(static_cast<uint16_t>(entry.sequence_number()));
    entry.set_queue_pair_number(0);
    std::memcpy(ring_.at(place_of(index)), &entry, sizeof entry - sizeof(uint32_t));
  }
}

} // namespace fpga_verbs::driver
