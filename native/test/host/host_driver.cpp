#include "test/host/host_driver.h"

#include "spec/commands.h"
#include "spec/contexts.h"
#include "spec/registers.h"

#include <bit>

namespace fpga_verbs::test {

namespace registers = spec::underlying_function;

MailboxContent& MailboxContent::add_pages(const HostMemory& memory) {
  for (size_t offset = 0; offset < memory.bytes; offset += spec::page_bytes) {
    spec::PageTableEntry entry;
    entry.set_page((memory.address + offset) / spec::page_bytes);
    entry.set_valid(1);
    add(entry);
  }
  return *this;
}

HostDriver::HostDriver(board::EmulatedBoard& board, unsigned underlying_function)
    : function_(board, underlying_function) {
  send_queue_ = function_.allocate(sizeof(spec::ManagementCommand) << entries_log2);
  completion_queue_ = function_.allocate(sizeof(spec::ManagementCompletion) << entries_log2);
  input_ = function_.allocate(spec::page_bytes);
  output_ = function_.allocate(spec::page_bytes);
  events_ = function_.allocate(sizeof(spec::EventQueueEntry) << event_entries_log2);
  event_head_ = function_.allocate(sizeof(spec::RingHead));
  ready_ = enable() && start();
}

bool HostDriver::enable() {
  if (registers::Status{function_.read(registers::status)}.enabled() != 0)
    return true;
  if (function_.underlying_function() != 0)
    return false;
  context_memory_ = function_.allocate(function_.read_identity(spec::identity::context_memory_needed));
  function_.write_control64(spec::control::context_memory_address, context_memory_.address);
  function_.write_control64(spec::control::context_memory_bytes, context_memory_.bytes);
  spec::control::Control control;
  control.set_enable(1);
  function_.write_control(spec::control::control, control.bits);
  return registers::Status{function_.read(registers::status)}.enabled() != 0;
}

bool HostDriver::start() {
  registers::ManagementQueueSize size;
  size.set_entries_log2(entries_log2);
  function_.write(registers::management_queue_size, size.bits);
  function_.write64(registers::management_send_queue_address, send_queue_.address);
  function_.write64(registers::management_completion_queue_address, completion_queue_.address);

  const uint32_t queue_pairs = function_.read_identity(spec::identity::queue_pairs);
  const auto structure_log2 = static_cast<uint32_t>(std::bit_width(queue_pairs - 1));
  for (unsigned level = 0; level < spec::quality_of_service_levels; ++level) {
    queuing_structures_.push_back(function_.allocate(sizeof(spec::QueuingStructureEntry) << structure_log2));
    function_.write64(registers::queuing_structure_address +
                          level * registers::queuing_structure_address_stride,
                      queuing_structures_.back().address);
  }
  registers::QueuingStructureSize structure_size;
  structure_size.set_entries_log2(structure_log2);
  function_.write(registers::queuing_structure_size, structure_size.bits);

  spec::CreateEventQueueInput event_queue;
  event_queue.set_entries_log2(event_entries_log2);
  event_queue.set_pages(static_cast<uint32_t>(events_.bytes / spec::page_bytes));
  event_queue.set_head_address(event_head_.address);
  return make(spec::ManagementOpcode::create_event_queue,
              MailboxContent().add(event_queue).add_pages(events_).bytes())
      .has_value();
}

std::optional<spec::ManagementCompletion> HostDriver::execute(spec::ManagementOpcode opcode, uint32_t object,
                                                              std::span<const uint8_t> input) {
  spec::MailboxHeader header;
  header.set_length(static_cast<uint32_t>(input.size()));
  std::memcpy(input_.at(), &header, sizeof header);
  if (!input.empty())
    std::memcpy(input_.at(sizeof header), input.data(), input.size());
  spec::ManagementCommand command;
  command.set_opcode(opcode);
  command.set_send_queue_sequence_number(tail_);
  command.set_version(spec::command_version);
  command.set_token(tail_);
  command.set_input_modifier(object);
  command.set_input_mailbox(input.empty() ? 0 : input_.address);
  command.set_input_length(static_cast<uint32_t>(input.size()));
  command.set_output_mailbox(output_.address);
  command.set_output_length(static_cast<uint32_t>(output_.bytes - sizeof header));
  constexpr uint32_t mask = (1u << entries_log2) - 1;
  std::memcpy(send_queue_.at((tail_ & mask) * sizeof command), &command, sizeof command);
  const size_t answer_at = (tail_ & mask) * sizeof(spec::ManagementCompletion);
  const uint32_t phase = ((tail_ >> entries_log2) & 1) ^ 1;
  ++tail_;
  registers::ManagementDoorbell doorbell;
  doorbell.set_tail(tail_);
  function_.write(registers::management_doorbell, doorbell.bits);

  constexpr unsigned timeout = 1'000'000;
  for (unsigned i = 0; i < timeout; ++i) {
    if (const auto answer = completion_queue_.entry<spec::ManagementCompletion>(answer_at, phase)) {
      take_events();
      return answer;
    }
    function_.wait_a_little();
  }
  return std::nullopt;
}

std::optional<uint32_t> HostDriver::make(spec::ManagementOpcode opcode, std::span<const uint8_t> input) {
  const auto answer = execute(opcode, 0, input);
  if (!answer || answer->status() != spec::ManagementStatus::success)
    return std::nullopt;
  return static_cast<uint32_t>(answer->output());
}

bool HostDriver::unmake(spec::ManagementOpcode opcode, uint32_t object) {
  const auto answer = execute(opcode, object);
  return answer && answer->status() == spec::ManagementStatus::success;
}

std::optional<uint32_t> HostDriver::register_memory(const HostMemory& memory, uint32_t protection_domain,
                                                    unsigned access_flags) {
  spec::RegisterMemoryInput input;
  input.set_access_flags(access_flags);
  input.set_page_log2(static_cast<uint32_t>(std::countr_zero(spec::page_bytes)));
  input.set_protection_domain(protection_domain);
  input.set_base(memory.address);
  input.set_length(memory.bytes);
  input.set_pages(static_cast<uint32_t>(memory.bytes / spec::page_bytes));
  return make(spec::ManagementOpcode::register_memory, MailboxContent().add(input).add_pages(memory).bytes());
}

std::span<const uint8_t> HostDriver::output() const {
  return {output_.at(sizeof(spec::MailboxHeader)), output_.bytes - sizeof(spec::MailboxHeader)};
}

// Reads events so that the ring does not fill; no test here looks at them.
void HostDriver::take_events() {
  constexpr uint32_t mask = (1u << event_entries_log2) - 1;
  while (events_.entry<spec::EventQueueEntry>((event_number_ & mask) * sizeof(spec::EventQueueEntry),
                                              ((event_number_ >> event_entries_log2) & 1) ^ 1)) {
    ++event_number_;
    event_head_.record().store(event_number_, std::memory_order_release);
  }
}

} // namespace fpga_verbs::test
