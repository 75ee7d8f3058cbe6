#include "spec/mailboxes.h"
#include "hca/base/queue_sizes.h"
#include "spec/commands.h"
#include "spec/contexts.h"
#include "spec/queues.h"
#include "spec/registers.h"
#include "test/fuzz/fuzz_board.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_targets.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace fpga_verbs::test {

namespace {

namespace registers = spec::underlying_function;

constexpr unsigned entries_log2 = 5;
constexpr unsigned entries = 1 << entries_log2;
constexpr unsigned mailbox_pages = 4;
constexpr unsigned operations_maximum = 60;

// Posts management commands to its own queues, which replace those of the function's driver.
class HostileManagement {
public:
  HostileManagement(FuzzBoard& board, FuzzFunction& function, FuzzInput& input)
      : board_(board), function_(function), host_(function.driver().function()), input_(input),
        send_queue_(host_.allocate(sizeof(spec::ManagementCommand) * entries)),
        completion_queue_(host_.allocate(sizeof(spec::ManagementCompletion) * entries)),
        mailbox_(host_.allocate(size_t{mailbox_pages} * spec::page_bytes)),
        queue_(host_.allocate(spec::page_bytes)) {
    registers::ManagementQueueSize size;
    size.set_entries_log2(entries_log2);
    host_.write(registers::management_queue_size, size.bits);
    host_.write64(registers::management_send_queue_address, send_queue_.address);
    host_.write64(registers::management_completion_queue_address, completion_queue_.address);
  }

  void act() {
    switch (input_.below(8)) {
    case 0:
    case 1:
    case 2:
      fill_mailbox(put_structure());
      return post(next_opcode_);
    case 3:
      fill_mailbox(put_bytes());
      return post(input_.byte());
    case 4:
      return post_send();
    case 5:
      return board_.step(input_.byte());
    case 6:
      return board_.advance(uint64_t{1} << input_.below(28));
    case 7:
      return write_page();
    }
  }

  // Takes the available answers, and the objects that they name.
  void take_answers() {
    while (
        const auto answer = completion_queue_.entry<spec::ManagementCompletion>(
            answers_ % entries * sizeof(spec::ManagementCompletion), ((answers_ >> entries_log2) & 1) ^ 1)) {
      ++answers_;
      if (answer->status() == spec::ManagementStatus::success && answer->output() != 0)
        objects_.push_back(static_cast<uint32_t>(answer->output()));
    }
  }

private:
  // An existing object, or any number.
  uint32_t object() {
    const unsigned choice = input_.below(16);
    switch (choice) {
    case 0:
      return input_.take<uint32_t>();
    case 1:
      return input_.byte();
    case 2:
    case 3:
      return function_.queue_pair(choice - 2).number();
    case 4:
      return function_.key();
    case 5:
      return function_.completion_queue().number();
    case 6:
      return function_.protection_domain();
    default:
      return objects_.empty() ? 0 : objects_[choice % objects_.size()];
    }
  }

  uint64_t address() {
    const std::array<uint64_t, 4> known{mailbox_.address, queue_.address, function_.memory().address,
                                        input_.take<uint8_t>() * uint64_t{spec::page_bytes}};
    return known[input_.below(known.size())] + (input_.below(4) == 0 ? input_.byte() : 0);
  }

  template <class Structure> void add(const Structure& structure) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&structure);
    content_.insert(content_.end(), bytes, bytes + sizeof structure);
  }

  void add_pages(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      spec::PageTableEntry entry;
      entry.set_page(address() / spec::page_bytes);
      entry.set_valid(1);
      add(entry);
    }
  }

  // The input of a command, valid except for some bytes.
  size_t put_structure() {
    content_.clear();
    using enum spec::ManagementOpcode;
    switch (input_.below(10)) {
    case 0: {
      next_opcode_ = static_cast<uint8_t>(create_completion_queue);
      spec::CreateCompletionQueueInput structure;
      structure.set_entries_log2(input_.below(8));
      structure.set_pages(input_.below(4));
      structure.set_head_address(address());
      structure.set_event_queue(input_.below(9));
      add(structure);
      add_pages(structure.pages());
      break;
    }
    case 1: {
      next_opcode_ = static_cast<uint8_t>(create_queue_pair);
      spec::CreateQueuePairInput structure;
      structure.set_service_type(static_cast<spec::ServiceType>(input_.below(4)));
      structure.set_quality_of_service_level(static_cast<spec::QualityOfServiceLevel>(input_.below(3)));
      structure.set_send_queue_log2(input_.below(6));
      structure.set_receive_queue_log2(input_.below(6));
      structure.set_protection_domain(object());
      structure.set_send_completion_queue(object());
      structure.set_receive_completion_queue(object());
      structure.set_send_queue_pages(input_.below(3));
      structure.set_send_entry_pages(input_.below(4));
      structure.set_receive_queue_pages(input_.below(3));
      structure.set_receive_entry_pages(input_.below(4));
      structure.set_receive_tail_address(address());
      if (input_.below(4) == 0)
        structure.set_shared_receive_queue(object());
      add(structure);
      add_pages(structure.send_queue_pages() + structure.send_entry_pages() +
                structure.receive_queue_pages() + structure.receive_entry_pages());
      break;
    }
    case 2: {
      next_opcode_ = static_cast<uint8_t>(register_memory);
      spec::RegisterMemoryInput structure;
      structure.set_access_flags(input_.byte());
      structure.set_page_log2(12 + input_.below(3));
      structure.set_protection_domain(object());
      structure.set_base(address());
      structure.set_length(input_.take<uint16_t>());
      structure.set_pages(input_.below(5));
      structure.set_first_page_offset(input_.below(2) == 0 ? 0 : input_.take<uint16_t>());
      add(structure);
      add_pages(structure.pages());
      break;
    }
    case 3: {
      next_opcode_ = static_cast<uint8_t>(create_event_queue);
      spec::CreateEventQueueInput structure;
      structure.set_event_queue(input_.below(9));
      structure.set_entries_log2(input_.below(9));
      structure.set_pages(input_.below(4));
      structure.set_head_address(address());
      structure.set_moderation_count(input_.byte());
      structure.set_moderation_time(input_.byte());
      add(structure);
      add_pages(structure.pages());
      break;
    }
    case 4:
    case 5: {
      next_opcode_ = static_cast<uint8_t>(modify_queue_pair);
      spec::QueuePairAttributes structure;
      structure.set_attribute_mask(input_.take<uint32_t>() | 1);
      structure.set_state(static_cast<spec::QueuePairState>(input_.below(8)));
      structure.set_path_mtu(static_cast<spec::PathMtu>(input_.below(7)));
      structure.set_port(input_.below(3));
      structure.set_access_flags(input_.byte());
      structure.set_destination_queue_pair(object());
      structure.set_timeout(input_.below(32));
      structure.set_max_read_atomic(input_.below(18));
      structure.set_max_destination_read_atomic(input_.below(18));
      structure.set_retry_count(input_.below(8));
      structure.set_receive_psn(input_.below(4));
      structure.set_send_psn(input_.below(4));
      const spec::AddressVector own =
          address_of(spec::LinkLayer::ethernet, board_.board().board_number(), host_.underlying_function());
      std::array<uint8_t, sizeof own> vector;
      std::memcpy(vector.data(), &own, sizeof own);
      structure.set_address_vector(vector);
      add(structure);
      break;
    }
    case 6: {
      next_opcode_ = static_cast<uint8_t>(set_global_identifier);
      spec::SetGlobalIdentifierInput structure;
      structure.set_port(input_.below(4));
      structure.set_gid_index(input_.below(18));
      add(structure);
      break;
    }
    case 7: {
      next_opcode_ = static_cast<uint8_t>(create_shared_receive_queue);
      spec::CreateSharedReceiveQueueInput structure;
      structure.set_queue_log2(input_.below(6));
      structure.set_protection_domain(object());
      structure.set_queue_pages(input_.below(3));
      structure.set_entry_pages(input_.below(4));
      structure.set_limit(input_.below(34));
      structure.set_tail_address(address());
      add(structure);
      add_pages(structure.queue_pages() + structure.entry_pages());
      break;
    }
    case 8: {
      next_opcode_ = static_cast<uint8_t>(modify_shared_receive_queue);
      spec::SharedReceiveQueueAttributes structure;
      structure.set_limit(input_.below(34));
      structure.set_keep_limit(input_.below(4) == 0);
      if (input_.below(4) != 0) {
        structure.set_queue_log2(input_.below(11));
        structure.set_entry_pages(input_.below(4));
      }
      add(structure);
      add_pages(hca::reference_pages(structure.queue_log2()) + structure.entry_pages());
      break;
    }
    case 9: {
      next_opcode_ = static_cast<uint8_t>(create_memory_window);
      spec::CreateMemoryWindowInput structure;
      structure.set_window_type(input_.below(4));
      structure.set_protection_domain(object());
      add(structure);
      break;
    }
    }
    for (unsigned i = input_.below(4); i > 1; --i)
      content_[input_.take<uint16_t>() % content_.size()] ^= input_.byte();
    return content_.size();
  }

  size_t put_bytes() {
    const std::span<const uint8_t> bytes = input_.take_bytes(input_.below(97));
    content_.assign(bytes.begin(), bytes.end());
    return content_.size();
  }

  // Puts the content into the chain of pages, which may be valid or lead anywhere.
  void fill_mailbox(size_t length) {
    const bool right = input_.below(4) != 0;
    size_t done = 0;
    for (unsigned page = 0; page < mailbox_pages; ++page) {
      spec::MailboxHeader header;
      const size_t room = right ? spec::page_bytes - sizeof header : std::min<size_t>(input_.byte(), length);
      const size_t portion = std::min(room, length - done);
      header.set_length(static_cast<uint32_t>(right ? portion : portion + input_.below(2)));
      if (!right)
        header.set_next(input_.below(3) == 0 ? address()
                                             : mailbox_.address + uint64_t{page + 1} * spec::page_bytes);
      uint8_t* const at = mailbox_.at(size_t{page} * spec::page_bytes);
      std::memcpy(at, &header, sizeof header);
      if (portion != 0)
        std::memcpy(at + sizeof header, content_.data() + done, portion);
      done += portion;
      if (right)
        return;
    }
  }

  spec::ManagementCommand command(uint8_t opcode) {
    spec::ManagementCommand command;
    command.set_opcode(static_cast<spec::ManagementOpcode>(opcode));
    command.set_send_queue_sequence_number(posted_);
    command.set_version(spec::command_version);
    command.set_token(posted_);
    command.set_input_modifier(object());
    command.set_input_mailbox(mailbox_.address);
    command.set_input_length(static_cast<uint32_t>(content_.size()));
    command.set_output_mailbox(address());
    command.set_output_length(input_.below(2) == 0 ? spec::page_bytes / 2 : input_.take<uint32_t>());
    if (const unsigned wrong = input_.below(32); wrong < sizeof command)
      command.dwords[wrong % command.dwords.size()] ^= wrong < 8 ? 1u << input_.below(32) : 0;
    return command;
  }

  // put_structure() has no input for the opcodes that destroy or query objects.
  void post(uint8_t opcode) {
    if (input_.below(3) == 0)
      opcode = static_cast<uint8_t>(static_cast<unsigned>(spec::ManagementOpcode::query_function) +
                                    input_.below(28));
    // No more than the answers have room for.
    if (posted_ - answers_ >= entries)
      return;
    const spec::ManagementCommand posted = command(opcode);
    std::memcpy(send_queue_.at(posted_ % entries * sizeof posted), &posted, sizeof posted);
    ++posted_;
    registers::ManagementDoorbell doorbell;
    doorbell.set_tail(posted_);
    host_.write(registers::management_doorbell, doorbell.bits);
    if (input_.below(4) != 0)
      board_.step(64);
  }

  // Writes a command to the management page, with or without its lock. The device skips its place in the
  // queue, and fetches it with the next command.
  void write_page() {
    if (input_.below(2) == 0)
      host_.read(registers::management_lock);
    const spec::ManagementCommand written = command(input_.byte());
    for (unsigned i = 0; i < written.dwords.size(); ++i)
      host_.write(registers::management_page + i * registers::management_page_stride, written.dwords[i]);
    ++posted_;
  }

  // A command to a queue pair whose contexts other blocks write too.
  void post_send() {
    spec::CommandHeader header;
    header.set_opcode(static_cast<spec::Opcode>(input_.below(13)));
    header.set_queue_pair_number(object());
    header.set_send_queue_sequence_number(input_.below(8));
    header.set_version(spec::command_version);
    header.set_gather_count(1);
    header.set_signaled(1);
    header.set_remote_address(function_.memory().address);
    header.set_remote_key(object());
    spec::GatherEntry gather = function_.entry(0, input_.take<uint16_t>() % spec::page_bytes);
    gather.set_local_key(object());
    header.set_length(sizeof gather);
    std::array<uint8_t, sizeof header + sizeof gather> bytes;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &gather, sizeof gather);
    host_.write_command(host_.first_collect_buffer() + input_.below(2), bytes.data(), bytes.size());
  }

  FuzzBoard& board_;
  FuzzFunction& function_;
  HostFunction& host_;
  FuzzInput& input_;
  HostMemory send_queue_;
  HostMemory completion_queue_;
  HostMemory mailbox_;
  HostMemory queue_; // for queues that commands create
  std::vector<uint8_t> content_;
  std::vector<uint32_t> objects_;
  uint8_t next_opcode_ = 0;
  uint32_t posted_ = 0;
  uint32_t answers_ = 0;
};

} // namespace

std::string fuzz_mailboxes(std::span<const uint8_t> bytes) {
  FuzzInput input(bytes);
  FuzzBoard board;
  FuzzFunction control(board, 0);
  FuzzFunction guest(board, 1);
  if (!control.ready() || !guest.ready())
    return "the functions do not come up";
  HostileManagement hostile(board, guest, input);
  const auto act = [&hostile] {
    hostile.act();
    hostile.take_answers();
  };
  if (std::string wrong = board.act_and_check(input, operations_maximum, act); !wrong.empty())
    return wrong;
  if (std::string wrong = control.send_message(); !wrong.empty())
    return wrong;
  if (!guest.driver().function().reset())
    return "the reset of the function does not end";
  return board.run_until_idle();
}

} // namespace fpga_verbs::test
