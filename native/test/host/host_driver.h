#pragma once

#include "spec/enums.h"
#include "spec/mailboxes.h"
#include "spec/queues.h"
#include "test/host/host_function.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::test {

// Content of an input mailbox of one page: structures, followed by page lists.
class MailboxContent {
public:
  template <class Structure> MailboxContent& add(const Structure& structure) {
    std::memcpy(bytes_.data() + length_, &structure, sizeof structure);
    length_ += sizeof structure;
    return *this;
  }
  MailboxContent& add_pages(const HostMemory& memory);
  std::span<const uint8_t> bytes() const { return {bytes_.data(), length_}; }

private:
  std::array<uint8_t, spec::page_bytes - sizeof(spec::MailboxHeader)> bytes_;
  size_t length_ = 0;
};

// A driver of one function, for native tests: management commands, and the host memory that the device needs
// to execute them. One command at a time.
class HostDriver {
public:
  // Brings the function up. For function 0 this enables the device. A function has one driver.
  HostDriver(board::EmulatedBoard& board, unsigned underlying_function);

  // Whether the function is up.
  bool ready() const { return ready_; }

  HostFunction& function() { return function_; }

  // Executes a management command whose input fits into one page of a mailbox. Returns nothing if the device
  // does not answer.
  std::optional<spec::ManagementCompletion> execute(spec::ManagementOpcode opcode, uint32_t object = 0,
                                                    std::span<const uint8_t> input = {});

  // The same. Returns the number of the created object, or nothing if the command fails.
  std::optional<uint32_t> make(spec::ManagementOpcode opcode, std::span<const uint8_t> input = {});
  bool unmake(spec::ManagementOpcode opcode, uint32_t object);

  // Creates a memory region of a whole memory and returns its key. `access_flags`: bits of spec::AccessFlag.
  std::optional<uint32_t> register_memory(const HostMemory& memory, uint32_t protection_domain,
                                          unsigned access_flags);

  std::span<const uint8_t> output() const;

private:
  static constexpr unsigned entries_log2 = 4;
  static constexpr unsigned event_entries_log2 = 6;

  bool enable();
  bool start();
  void take_events();

  HostFunction function_;
  HostMemory send_queue_;
  HostMemory completion_queue_;
  HostMemory input_;
  HostMemory output_;
  HostMemory events_;
  HostMemory event_head_;
  HostMemory context_memory_;
  std::vector<HostMemory> queuing_structures_;
  uint32_t tail_ = 0;
  uint32_t event_number_ = 0;
  bool ready_ = false;
};

} // namespace fpga_verbs::test
