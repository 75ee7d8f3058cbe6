#pragma once

#include "completion_queue_model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace fpga_verbs::bench {

constexpr uint32_t completion_functions = 8;
constexpr uint32_t completion_queues = QUEUES;                                    // numbers
constexpr uint32_t used_completion_queues = std::min(completion_queues - 1, 12U); // from 1 on
constexpr uint32_t longest_period = 500;

struct CompletionWrite {
  uint32_t number = 0;
  unsigned function = 0;
  spec::CompletionQueueEntry entry;
  uint64_t time = 0;
};
struct CompletionArm {
  unsigned function = 0;
  spec::underlying_function::CompletionQueueArm request;
  uint64_t time = 0;
};
struct CompletionControl {
  bool create = false;
  bool resize = false;
  bool moderate = false;
  bool destroy = false;
  uint32_t number = 0;
  unsigned function = 0;
  unsigned entries_log2 = 0;
  uint32_t table = ~0U;
  uint8_t event_queue = 0;
  uint64_t user_handle = 0;
  uint32_t count = 0;
  uint32_t period = 0;
  uint64_t time = 0;
};

// Entries, armings and commands for completion_queue, in a mixture that changes from time to time.
class CompletionStream {
public:
  CompletionStream(Random& random, CompletionPages& pages, const LiveQueues& live)
      : random_(random), pages_(pages), live_(live) {}

  // Probabilities per clock, in percent.
  uint32_t write = 0;
  uint32_t arm = 0;
  uint32_t control = 0;
  uint32_t consume = 100;

  void choose() {
    write = std::array{0U, 30U, 100U, 100U}[random_.below(4)];
    arm = std::array{0U, 10U, 60U}[random_.below(3)];
    control = std::array{5U, 60U}[random_.below(2)];
    consume = std::array{1U, 10U, 100U}[random_.below(3)];
    focus_ = random_.once(2) ? used_completion_queues : 1 + random_.below(3);
  }

  uint32_t some_number() {
    if (random_.once(24))
      return std::array{0U, completion_queues + 1 + random_.below(used_completion_queues),
                        1 + random_.below(completion_queues - 1)}[random_.below(3)];
    return 1 + random_.below(focus_);
  }

  CompletionWrite some_write(uint32_t number) {
    CompletionWrite write{.number = number, .function = function_of(number)};
    std::array<uint8_t, entry_bytes> bytes;
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>(random_.bits());
    bytes[1] = random_.once(8) ? 1 + bytes[1] % 8 : 0; // status
    std::memcpy(&write.entry, bytes.data(), bytes.size());
    return write;
  }

  CompletionArm some_arm() {
    const uint32_t number = some_number();
    CompletionArm arm{.function = function_of(number)};
    const auto found = live_.find(number);
    arm.request.set_completion_queue(number);
    arm.request.set_solicited(random_.below(2));
    arm.request.set_arm_sequence(random_.once(12)       ? random_.below(128)
                                 : found != live_.end() ? found->second.events
                                                        : 0);
    arm.request.set_head(found == live_.end()
                             ? random_.below(8)
                             : found->second.head + (random_.once(8) ? random_.below(9) - 4 : 0));
    return arm;
  }

  // Number 0: no command this time.
  CompletionControl some_control() {
    CompletionControl control{.number = some_number()};
    const auto found = live_.find(control.number);
    control.function = function_of(control.number);
    control.entries_log2 = random_.once(12) ? 15 : random_.once(4) ? random_.below(10) : random_.below(4);
    if (found == live_.end() || random_.once(16)) {
      control.create = true;
      if (control.number > used_completion_queues)
        control.number = 0;
      control.event_queue = static_cast<uint8_t>(random_.bits());
      control.user_handle = random_.bits() & 0xffff'ffff'ffff;
    } else if (found->second.failed ? !random_.once(4) : random_.once(12)) {
      control.destroy = true;
    } else {
      control.resize = random_.once(3);
      control.moderate = !control.resize && !random_.once(4);
      control.count = random_.below(8);
      control.period = std::array{0U, 50U, 200U, longest_period}[random_.below(4)];
    }
    if (control.number != 0 && (control.create || control.resize))
      control.table = pages_.make_table(control.function, control.number, control.entries_log2, false);
    return control;
  }

private:
  unsigned function_of(uint32_t number) {
    const auto found = live_.find(number);
    return found == live_.end() || random_.once(48) ? random_.below(completion_functions)
                                                    : found->second.function;
  }

  Random& random_;
  CompletionPages& pages_;
  const LiveQueues& live_;
  uint32_t focus_ = 1;
};

} // namespace fpga_verbs::bench
