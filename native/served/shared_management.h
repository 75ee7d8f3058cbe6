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

// The management queues of a function whose observation is shared: commands of its driver, and of those who
// observe. Thread-safe; one command is carried out at a time.
class SharedManagement {
public:
  explicit SharedManagement(SharedFunction& function) : function_(function) {}

  // Begins both queues anew, on the thread of the driver, none of whose commands is under way. False:
  // `failure` gives the reason.
  bool begin(std::string& failure);

  // Carries out a command of which the opcode, the input modifier and the mailboxes are given. Nothing: the
  // device is gone or has not answered in time; then no other command is answered.
  std::optional<spec::ManagementCompletion> ask(spec::ManagementCommand command);

  // The same with the content of mailboxes of its own, a page each. Nothing also if the device refuses it.
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
  bool stopped_ = false; // a command that was never answered may still be carried out
};

} // namespace fpga_verbs::served
