#include "driver/shared_receive_queue.h"

#include "driver/explanation.h"

#include <cerrno>

namespace fpga_verbs::driver {

namespace {

constexpr size_t sequence_numbers = 0x10000;
constexpr uint16_t no_place = 0xffff;

} // namespace

int SharedReceiveQueue::create(uint32_t protection_domain, uint32_t entries, uint32_t scatter_entries,
                               uint32_t limit) {
  if (!memory_.begin(function_, entries, scatter_entries))
    return function_.allocation_error();
  const WorkQueueArea& area = memory_.area();
  size_ = area.entries();
  place_of_.assign(sequence_numbers, no_place);
  for (uint32_t place = size_; place-- != 0;)
    free_.push_back(static_cast<uint16_t>(place));
  spec::CreateSharedReceiveQueueInput input;
  input.set_queue_log2(area.entries_log2());
  input.set_protection_domain(protection_domain);
  input.set_queue_pages(static_cast<uint32_t>(area.references().bytes / spec::page_bytes));
  input.set_entry_pages(static_cast<uint32_t>(area.area().bytes / spec::page_bytes));
  input.set_limit(limit);
  input.set_tail_address(memory_.tail_address());
  const auto made =
      management_.execute(spec::ManagementOpcode::create_shared_receive_queue, 0,
                          MailboxInput(input).add_pages(area.references()).add_pages(area.area()).bytes());
  number_ = made.number;
  return made.error;
}

int SharedReceiveQueue::destroy() {
  return management_.execute(spec::ManagementOpcode::destroy_shared_receive_queue, number_).error;
}

uint32_t SharedReceiveQueue::entries() {
  const std::scoped_lock lock(mutex_);
  return size_;
}

int SharedReceiveQueue::modify(std::optional<uint32_t> entries, std::optional<uint32_t> limit) {
  const std::scoped_lock lock(mutex_);
  const unsigned size_log2 = log2_of(entries.value_or(size_));
  const uint32_t size = uint32_t{1} << size_log2;
  const auto posted = static_cast<uint32_t>(memory_.area().entries() - free_.size());
  if (size > spec::queue_entries_maximum || size < posted)
    return explain(EINVAL, "max_wr is " + std::to_string(posted) + ", what is posted, to " +
                               std::to_string(spec::queue_entries_maximum));
  if (limit.value_or(0) > size)
    return explain(EINVAL, "srq_limit is at most max_wr, " + std::to_string(size));
  int error = 0;
  if (size > memory_.area().entries()) {
    error = grow(size_log2, limit);
  } else if (limit) {
    spec::SharedReceiveQueueAttributes attributes;
    attributes.set_limit(*limit);
    error = management_
                .execute(spec::ManagementOpcode::modify_shared_receive_queue, number_,
                         MailboxInput(attributes).bytes())
                .error;
  }
  if (error == 0)
    size_ = size;
  return error;
}

int SharedReceiveQueue::grow(unsigned entries_log2, std::optional<uint32_t> limit) {
  ReceiveArea larger;
  if (!larger.grow(function_, memory_, entries_log2, next_)) {
    larger.free_entries(function_);
    return function_.allocation_error();
  }
  const WorkQueueArea& area = larger.area();
  spec::SharedReceiveQueueAttributes attributes;
  attributes.set_limit(limit.value_or(0));
  attributes.set_keep_limit(limit ? 0 : 1);
  attributes.set_queue_log2(entries_log2);
  attributes.set_entry_pages(static_cast<uint32_t>(area.area().bytes / spec::page_bytes));
  const int error =
      management_
          .execute(spec::ManagementOpcode::modify_shared_receive_queue, number_,
                   MailboxInput(attributes).add_pages(area.references()).add_pages(area.area()).bytes())
          .error;
  if (error != 0) {
    larger.free_entries(function_);
    return error;
  }
  for (uint32_t place = memory_.area().entries(); place < area.entries(); ++place)
    free_.push_back(static_cast<uint16_t>(place));
  memory_.free_entries(function_);
  memory_ = larger;
  return 0;
}

int SharedReceiveQueue::query(uint32_t& limit) {
  spec::SharedReceiveQueueAttributes attributes;
  const auto asked = management_.execute(spec::ManagementOpcode::query_shared_receive_queue, number_, {},
                                         {reinterpret_cast<uint8_t*>(&attributes), sizeof attributes});
  limit = attributes.limit();
  return asked.error;
}

int SharedReceiveQueue::put(uint64_t id, std::span<const Segment> scatter) {
  const std::scoped_lock lock(mutex_);
  const auto posted = memory_.area().entries() - free_.size();
  // The number belongs to a message that never ends and still holds it; as if the queue were full.
  if (posted >= size_ || place_of_[next_] != no_place)
    return function_.is_lost()
               ? function_.explain_loss()
               : explain(ENOMEM, "the shared receive queue is full: " + std::to_string(posted) +
                                     " work requests are not completed; poll completions");
  if (scatter.size() > memory_.scatter_entries())
    return explain(EINVAL, "num_sge is " + std::to_string(scatter.size()) +
                               "; the shared receive queue was created with max_sge " +
                               std::to_string(memory_.scatter_entries()));
  const uint16_t place = free_.back();
  free_.pop_back();
  memory_.put(id, scatter, next_, place);
  place_of_[next_] = place;
  ++next_;
  return 0;
}

void SharedReceiveQueue::lose() {
  const std::scoped_lock lock(mutex_);
  size_ = 0;
}

void SharedReceiveQueue::publish() {
  const std::scoped_lock lock(mutex_);
  memory_.store_tail(next_);
}

uint64_t SharedReceiveQueue::complete(uint16_t sequence_number) {
  const std::scoped_lock lock(mutex_);
  const uint16_t place = place_of_[sequence_number];
  if (place == no_place)
    return 0;
  place_of_[sequence_number] = no_place;
  free_.push_back(place);
  return memory_.area().id(place);
}

} // namespace fpga_verbs::driver
