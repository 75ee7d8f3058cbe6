#include "driver/event_queue.h"

#include "spec/registers.h"

#include <cerrno>

namespace fpga_verbs::driver {

int EventQueue::begin(DeviceFunction& function, ManagementQueue& management, unsigned number,
                      unsigned entries_log2) {
  function_ = &function;
  number_ = number;
  entries_log2_ = entries_log2;
  ring_ = function.allocate(sizeof(spec::EventQueueEntry) << entries_log2);
  head_ = function.allocate(sizeof(spec::RingHead));
  if (!ring_ || !head_)
    return ENOMEM;
  spec::CreateEventQueueInput input;
  input.set_event_queue(number);
  input.set_entries_log2(entries_log2);
  input.set_pages(static_cast<uint32_t>(ring_.bytes / spec::page_bytes));
  input.set_head_address(head_.address);
  return management
      .execute(spec::ManagementOpcode::create_event_queue, 0, MailboxInput(input).add_pages(ring_).bytes())
      .error;
}

std::optional<spec::EventQueueEntry> EventQueue::poll() {
  const size_t at = (taken_ & ((1u << entries_log2_) - 1)) * sizeof(spec::EventQueueEntry);
  const auto event = ring_.entry<spec::EventQueueEntry>(at, ((taken_ >> entries_log2_) & 1) ^ 1);
  if (event) {
    ++taken_;
    head_.record().store(taken_, std::memory_order_release);
  }
  return event;
}

void EventQueue::arm() {
  spec::underlying_function::EventQueueArm arm;
  arm.set_event_queue(number_);
  function_->write(spec::underlying_function::event_queue_arm, arm.bits);
}

} // namespace fpga_verbs::driver
