#include "driver/management_queue.h"

#include "driver/explanation.h"
#include "spec/commands.h"
#include "spec/registers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sched.h>

namespace fpga_verbs::driver {

namespace {

namespace registers = spec::underlying_function;
using Clock = std::chrono::steady_clock;

// Time after which the driver gives up on the device; destroy waits for work in flight.
constexpr std::chrono::seconds time_limit{10};
constexpr std::chrono::milliseconds between_looks{100}; // whether the device is there

// The errno that libibverbs would return.
int error_of(spec::ManagementStatus status) {
  using enum spec::ManagementStatus;
  switch (status) {
  case success:
    return 0;
  case unknown_opcode:
    return EOPNOTSUPP;
  case in_use:
    return EBUSY;
  case no_resources:
    return ENOMEM;
  case not_permitted:
    return EPERM;
  case mailbox_fault:
    return EFAULT;
  case not_enabled:
    return ENODEV;
  case context_memory_fault:
    return EIO;
  case unreachable:
    return ENETUNREACH;
  case time_wait:
    return EAGAIN;
  case bad_parameter:
  case bad_object:
  case bad_state:
  case missing_attribute:
  case attribute_not_allowed:
    break;
  }
  return EINVAL;
}

std::string attributes_of(uint64_t mask) {
  std::string names;
  for (unsigned bit = 0; bit < 32; ++bit)
    if ((mask >> bit & 1) != 0)
      names += (names.empty() ? "" : ", ") + std::string(name(static_cast<spec::QueuePairAttribute>(bit)));
  return names;
}

int explain_answer(spec::ManagementOpcode opcode, const spec::ManagementCompletion& answer) {
  using enum spec::ManagementStatus;
  std::string sentence = std::string(name(opcode)) + " failed: " + name(answer.status());
  if (answer.status() == no_resources)
    sentence += " (" + std::string(name(answer.resource())) + ": " + std::to_string(answer.asked()) +
                " asked for, " + std::to_string(answer.left()) + " left)";
  if (answer.status() == time_wait)
    sentence +=
        (answer.asked() == 0 ? " (for another "
                             : " (" + std::to_string(answer.asked()) + " numbers, the first for another ") +
        std::to_string(answer.left()) + " us)";
  if (answer.status() == missing_attribute || answer.status() == attribute_not_allowed)
    sentence += " (" + attributes_of(answer.output()) + ")";
  if (answer.status() == bad_parameter)
    sentence += answer.output() == ~uint64_t{0} ? " (a reserved field)"
                                                : " (the field at bit " + std::to_string(answer.output()) +
                                                      (answer.in_mailbox() != 0 ? " of its input)" : ")");
  return explain(error_of(answer.status()), sentence);
}

} // namespace

void MailboxInput::append(const void* structure, size_t bytes) {
  bytes_.resize(bytes_.size() + bytes);
  std::memcpy(bytes_.data() + bytes_.size() - bytes, structure, bytes);
}

MailboxInput& MailboxInput::add_pages(const DeviceMemory& memory) {
  for (size_t offset = 0; offset < memory.bytes; offset += spec::page_bytes) {
    spec::PageTableEntry entry;
    entry.set_page((memory.address + offset) / spec::page_bytes);
    entry.set_valid(1);
    add(entry);
  }
  return *this;
}

// A removed device has no objects left: destroying one succeeds.
ManagementQueue::Result ManagementQueue::answer_for_lost(spec::ManagementOpcode opcode) const {
  using enum spec::ManagementOpcode;
  switch (opcode) {
  case destroy_event_queue:
  case destroy_completion_queue:
  case destroy_queue_pair:
  case destroy_shared_receive_queue:
  case destroy_protection_domain:
  case deregister_memory:
  case destroy_memory_window:
  case destroy_address_handle:
  case detach_multicast:
    return {};
  default:
    return {function_->explain_loss()};
  }
}

bool ManagementQueue::begin(DeviceFunction& function) {
  function_ = &function;
  send_queue_ = function.allocate(sizeof(spec::ManagementCommand) << entries_log2);
  completion_queue_ = function.allocate(sizeof(spec::ManagementCompletion) << entries_log2);
  input_ = function.allocate(mailbox_pages * spec::page_bytes);
  output_ = function.allocate(spec::page_bytes);
  if (!send_queue_ || !completion_queue_ || !input_ || !output_)
    return false;
  registers::ManagementQueueSize size;
  size.set_entries_log2(entries_log2);
  function.write(registers::management_queue_size, size.bits);
  function.write64(registers::management_send_queue_address, send_queue_.address);
  function.write64(registers::management_completion_queue_address, completion_queue_.address);
  return true;
}

void ManagementQueue::write_input(std::span<const uint8_t> input) {
  for (size_t page = 0; !input.empty(); ++page) {
    const std::span<const uint8_t> portion = input.first(std::min(input.size(), page_content));
    input = input.subspan(portion.size());
    const size_t at = page * spec::page_bytes;
    spec::MailboxHeader header;
    header.set_length(static_cast<uint32_t>(portion.size()));
    header.set_next(input.empty() ? 0 : input_.address + at + spec::page_bytes);
    std::memcpy(input_.at(at), &header, sizeof header);
    std::ranges::copy(portion, input_.at(at + sizeof header));
  }
}

void ManagementQueue::read_output(std::span<uint8_t> output) const {
  if (output.empty())
    return;
  spec::MailboxHeader header;
  std::memcpy(&header, output_.at(), sizeof header);
  const size_t written = std::min<size_t>(header.length(), output.size());
  std::memcpy(output.data(), output_.at(sizeof header), written);
  std::ranges::fill(output.subspan(written), uint8_t{0});
}

ManagementQueue::Result ManagementQueue::execute(spec::ManagementOpcode opcode, uint32_t object,
                                                 std::span<const uint8_t> input, std::span<uint8_t> output) {
  const std::scoped_lock lock(mutex_);
  if (function_->is_lost())
    return answer_for_lost(opcode);
  if (stopped_)
    return {explain(EIO, "the device has not answered an earlier management command")};
  if (input.size() > mailbox_pages * page_content)
    return {explain(EINVAL, std::string(name(opcode)) + ": more pages than one command takes")};
  write_input(input);
  spec::ManagementCommand command;
  command.set_opcode(opcode);
  command.set_send_queue_sequence_number(tail_);
  command.set_version(spec::command_version);
  command.set_token(tail_);
  command.set_input_modifier(object);
  command.set_input_mailbox(input.empty() ? 0 : input_.address);
  command.set_input_length(static_cast<uint32_t>(input.size()));
  command.set_output_mailbox(output.empty() ? 0 : output_.address);
  command.set_output_length(static_cast<uint32_t>(output.empty() ? 0 : page_content));
  constexpr uint32_t mask = (1u << entries_log2) - 1;
  std::memcpy(send_queue_.at((tail_ & mask) * sizeof command), &command, sizeof command);
  const size_t answer_at = (tail_ & mask) * sizeof(spec::ManagementCompletion);
  const uint32_t phase = ((tail_ >> entries_log2) & 1) ^ 1;
  ++tail_;
  registers::ManagementDoorbell doorbell;
  doorbell.set_tail(tail_);
  function_->write(registers::management_doorbell, doorbell.bits);

  const Clock::time_point given_up = Clock::now() + time_limit;
  Clock::time_point next_look = Clock::now() + between_looks;
  for (;;) {
    if (const auto answer = completion_queue_.entry<spec::ManagementCompletion>(answer_at, phase)) {
      if (answer->status() != spec::ManagementStatus::success)
        return {explain_answer(opcode, *answer)};
      read_output(output);
      return {0, static_cast<uint32_t>(answer->output())};
    }
    if (function_->backend().advance())
      continue;
    const Clock::time_point now = Clock::now();
    if (now > next_look) {
      function_->look();
      next_look = now + between_looks;
    }
    if (function_->is_lost())
      return answer_for_lost(opcode);
    if (now > given_up)
      break;
    sched_yield();
  }
  stopped_ = true;
  return {explain(ETIMEDOUT, std::string(name(opcode)) + ": the device does not answer")};
}

} // namespace fpga_verbs::driver
