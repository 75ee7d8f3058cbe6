#include "served/shared_management.h"

#include "spec/mailboxes.h"
#include "spec/registers.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sched.h>

namespace fpga_verbs::served {

namespace {

namespace registers = spec::underlying_function;
using Clock = std::chrono::steady_clock;

constexpr unsigned entries_log2 = 4;
constexpr uint32_t mask = (1U << entries_log2) - 1;
constexpr size_t page_content = spec::page_bytes - sizeof(spec::MailboxHeader);
// As for the driver: a destroy waits for what is in flight.
constexpr std::chrono::seconds time_limit{10};
constexpr std::chrono::milliseconds between_looks{100}; // whether the device is there

} // namespace

bool SharedManagement::begin(std::string& failure) {
  const auto allocate = [&](SharedFunctionMemory& memory, size_t bytes) {
    const std::optional<SharedFunctionMemory> made = function_.allocate(bytes, failure);
    memory = made.value_or(SharedFunctionMemory());
    return made.has_value();
  };
  if (!allocate(send_queue_, sizeof(spec::ManagementCommand) << entries_log2) ||
      !allocate(completion_queue_, sizeof(spec::ManagementCompletion) << entries_log2) ||
      !allocate(input_, spec::page_bytes) || !allocate(output_, spec::page_bytes))
    return false;
  registers::ManagementQueueSize size;
  size.set_entries_log2(entries_log2);
  function_.write_own(registers::management_queue_size, size.bits);
  function_.write64_own(registers::management_send_queue_address, send_queue_.address);
  function_.write64_own(registers::management_completion_queue_address, completion_queue_.address);
  return true;
}

std::optional<spec::ManagementCompletion> SharedManagement::ask(spec::ManagementCommand command) {
  const std::scoped_lock lock(mutex_);
  return execute(command);
}

std::optional<SharedManagement::Answer> SharedManagement::ask(spec::ManagementOpcode opcode,
                                                              std::span<const uint8_t> input) {
  const std::scoped_lock lock(mutex_);
  spec::MailboxHeader header;
  header.set_length(static_cast<uint32_t>(input.size()));
  std::memcpy(input_.data, &header, sizeof header);
  if (!input.empty())
    std::memcpy(input_.data + sizeof header, input.data(), input.size());
  std::memset(output_.data, 0, sizeof header);
  spec::ManagementCommand command;
  command.set_opcode(opcode);
  command.set_input_mailbox(input_.address);
  command.set_input_length(static_cast<uint32_t>(input.size()));
  command.set_output_mailbox(output_.address);
  command.set_output_length(page_content);
  const std::optional<spec::ManagementCompletion> answer = execute(command);
  if (!answer || answer->status() != spec::ManagementStatus::success)
    return std::nullopt;
  std::memcpy(&header, output_.data, sizeof header);
  const size_t written = std::min<size_t>(header.length(), page_content);
  const uint8_t* const content = output_.data + sizeof header;
  return Answer{answer->output(), {content, content + written}};
}

std::optional<spec::ManagementCompletion> SharedManagement::execute(spec::ManagementCommand command) {
  if (stopped_)
    return std::nullopt;
  command.set_send_queue_sequence_number(tail_);
  command.set_version(spec::command_version);
  command.set_token(tail_);
  std::memcpy(send_queue_.data + (tail_ & mask) * sizeof command, &command, sizeof command);
  const size_t answer_at = (tail_ & mask) * sizeof(spec::ManagementCompletion);
  const uint32_t phase = ((tail_ >> entries_log2) & 1) ^ 1;
  ++tail_;
  registers::ManagementDoorbell doorbell;
  doorbell.set_tail(tail_);
  function_.write_own(registers::management_doorbell, doorbell.bits);

  const Clock::time_point given_up = Clock::now() + time_limit;
  Clock::time_point next_look = Clock::now() + between_looks;
  for (;;) {
    spec::ManagementCompletion answer;
    constexpr size_t last = sizeof answer - sizeof(uint32_t);
    answer.dwords.back() = completion_queue_.record(answer_at + last).load(std::memory_order_acquire);
    if (answer.phase() == phase) {
      std::memcpy(answer.dwords.data(), completion_queue_.data + answer_at, sizeof answer);
      return answer;
    }
    if (function_.advance())
      continue;
    const Clock::time_point now = Clock::now();
    if (now > next_look) {
      next_look = now + between_looks;
      if (function_.is_gone())
        break;
    }
    if (now > given_up)
      break;
    sched_yield();
  }
  stopped_ = true;
  return std::nullopt;
}

} // namespace fpga_verbs::served
