// Numbers that peers use, at connect and reset of queue pairs (US7095750).
#include "hca/management/management_answer.h"
#include "hca/management/resource_manager.h"
#include "hca/queue_pair/address_vector.h"

#include <algorithm>

namespace fpga_verbs::hca {

using spec::ManagementStatus;

// The number is bound when no packet of its former connection can come any more; others' commands go on
// meanwhile. Before a time-wait that is long, and where the command asks not to wait, it is refused.
std::optional<spec::ManagementCompletion>
ResourceManager::wait_for_number(const Command& command, const spec::QueuePairControl& control,
                                 const spec::QueuePairAttributes& input) {
  VirtualQueuePairs& numbers = blocks_.virtual_queue_pairs;
  const uint64_t due =
      numbers.earliest_bind(control.virtual_queue_pair(), read_address_vector(input.address_vector()));
  const uint32_t left = numbers.microseconds_until(due);
  if (input.bind_at_once() != 0 || left > spec::time_wait_held) {
    Answer answer = answer_with(ManagementStatus::time_wait);
    answer.set_left(left);
    return answer;
  }
  binding_.push_back({.command = command, .due = due});
  return std::nullopt;
}

// Executes a due command from its start: the queue pair may have changed.
bool ResourceManager::go_on_binding() {
  const auto first = std::ranges::min_element(binding_, {}, &Binding::due);
  if (first->due > clock_.now())
    return false;
  const Command command = first->command;
  binding_.erase(first);
  carry_out(command);
  return true;
}

// When the first of the numbers that are to be bound is due.
uint64_t ResourceManager::next_binding() const { return std::ranges::min(binding_, {}, &Binding::due).due; }

// Assigns another number to a queue pair at reset. Changes nothing if there is none.
std::optional<spec::ManagementCompletion> ResourceManager::change_number(spec::QueuePairControl& control,
                                                                         uint32_t queue_pair_number) {
  VirtualQueuePairs& numbers = blocks_.virtual_queue_pairs;
  const std::optional<uint32_t> number = numbers.another(control.virtual_queue_pair(), queue_pair_number);
  if (!number)
    return all_numbers_wait();
  numbers.end(control.virtual_queue_pair(), VirtualQueuePairs::Keep::no);
  numbers.give(*number, control.underlying_function(), queue_pair_number);
  numbers.describe(*number, control);
  control.set_virtual_queue_pair(*number);
  return std::nullopt;
}

spec::ManagementCompletion ResourceManager::all_numbers_wait() {
  VirtualQueuePairs& numbers = blocks_.virtual_queue_pairs;
  Answer answer = answer_with(ManagementStatus::time_wait);
  answer.set_asked(numbers.waiting());
  answer.set_left(numbers.microseconds_until(numbers.first_free()));
  return answer;
}

} // namespace fpga_verbs::hca
