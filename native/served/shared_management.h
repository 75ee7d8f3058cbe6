#pragma once

#include "served/shared_function.h"
#include "spec/commands.h"
#include "spec/queues.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fpga_verbs::served {

// The management queues of a function whose observation is shared, used by its driver and by observers.
// Thread-safe; executes one command at a time.
class SharedManagement {
public:
  explicit SharedManagement(SharedFunction& function) : function_(function) {}

  // Restarts both queues, on the thread of the driver, which has no command in flight. False: `failure` gives
  // the reason.
  bool begin(std::string& failure);

  // Executes a command with the given opcode, input modifier and mailboxes. Nothing: the device is gone or
  // has not answered in time; later commands then fail too.
  std::optional<spec::ManagementCompletion> ask(spec::ManagementCommand command);

  // The same with its own mailboxes, one page each. Also returns nothing if the device refuses the command.
  struct Answer {
    uint64_t output = 0;
    std::vector<uint8_t> content;
  };
  std::optional<Answer> ask(spec::ManagementOpcode opcode, std::span<const uint8_t> input);

private:
  std::optional<spec::ManagementCompletion> execute(spec::ManagementCommand command);

  SharedFunction& function_;
  std::mutex mutex_;
  SharedFunctionMemory send_queue_;
  SharedFunctionMemory completion_queue_;
  SharedFunctionMemory input_;
  SharedFunctionMemory output_;
  uint32_t tail_ = 0;
  bool stopped_ = false; // the device may still execute a command that it never answered
};

} // namespace fpga_verbs::served
