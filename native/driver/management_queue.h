#pragma once

#include "driver/device_function.h"
#include "spec/contexts.h"
#include "spec/enums.h"
#include "spec/mailboxes.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

namespace fpga_verbs::driver {

// The content of an input mailbox: a structure, and page lists behind it.
class MailboxInput {
public:
  template <class Structure> explicit MailboxInput(const Structure& structure) { add(structure); }

  template <class Structure> MailboxInput& add(const Structure& structure) {
    append(&structure, sizeof structure);
    return *this;
  }
  // The pages of 4 KiB of a memory; none of an empty one.
  MailboxInput& add_pages(const DeviceMemory& memory);

  std::span<const uint8_t> bytes() const { return bytes_; }

private:
  void append(const void* structure, size_t bytes);

  std::vector<uint8_t> bytes_;
};

// The management send and completion queue of a function. One command is carried out at a time; thread-safe.
class ManagementQueue {
public:
  // Memory for both queues and the mailboxes. False: none is left, as explain() says.
  bool begin(DeviceFunction& function);

  struct Result {
    int error = 0;       // that a verb gives; explain() says why. 0: done
    uint32_t number = 0; // of the object made
  };

  // Carries out a command about `object`, and waits for its answer, ten seconds at most. `output`: filled
  // with what the output mailbox got. Of a device that is gone objects can be destroyed; all else gives EIO.
  Result execute(spec::ManagementOpcode opcode, uint32_t object = 0, std::span<const uint8_t> input = {},
                 std::span<uint8_t> output = {});

private:
  static constexpr unsigned entries_log2 = 4;
  static constexpr size_t mailbox_pages = 16;
  static constexpr size_t page_content = spec::page_bytes - sizeof(spec::MailboxHeader);

  Result answer_for_lost(spec::ManagementOpcode opcode) const;
  void write_input(std::span<const uint8_t> input);
  void read_output(std::span<uint8_t> output) const;

  DeviceFunction* function_ = nullptr;
  std::mutex mutex_;
  DeviceMemory send_queue_;
  DeviceMemory completion_queue_;
  DeviceMemory input_;
  DeviceMemory output_;
  uint32_t tail_ = 0;
  bool stopped_ = false; // a command that was never answered may still be carried out
};

} // namespace fpga_verbs::driver
