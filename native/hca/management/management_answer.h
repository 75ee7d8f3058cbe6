#pragma once

#include "hca/queue_pair/queue_pair_state_cache.h"
#include "spec/queues.h"

#include <cstdint>
#include <limits>

namespace fpga_verbs::hca {

// Answers to management commands, without the identity of the command.

inline constexpr uint64_t reserved_field = std::numeric_limits<uint64_t>::max(); // in the place of a bit

inline spec::ManagementCompletion answer_with(spec::ManagementStatus status) {
  spec::ManagementCompletion answer;
  answer.set_status(status);
  return answer;
}

// Success; `output` is the number of the created object, if any.
inline spec::ManagementCompletion succeed(uint64_t output = 0) {
  spec::ManagementCompletion answer;
  answer.set_output(output);
  return answer;
}

// The field of the command that begins at `bit` is invalid.
inline spec::ManagementCompletion bad_command(uint64_t bit) {
  spec::ManagementCompletion answer = answer_with(spec::ManagementStatus::bad_parameter);
  answer.set_output(bit);
  return answer;
}

// The field of the input mailbox that begins at `bit` is invalid.
inline spec::ManagementCompletion bad_input(uint64_t bit) {
  spec::ManagementCompletion answer = bad_command(bit);
  answer.set_in_mailbox(1);
  return answer;
}

// The attributes of `mask` are missing, or not allowed.
inline spec::ManagementCompletion bad_attributes(spec::ManagementStatus status, uint32_t mask) {
  spec::ManagementCompletion answer = answer_with(status);
  answer.set_output(mask);
  return answer;
}

inline spec::ManagementCompletion no_resources(spec::Resource resource, uint32_t asked, uint32_t left) {
  spec::ManagementCompletion answer = answer_with(spec::ManagementStatus::no_resources);
  answer.set_resource(resource);
  answer.set_asked(asked);
  answer.set_left(left);
  return answer;
}

inline spec::ManagementCompletion not_found(Absence absence) {
  return answer_with(absence == Absence::context_memory_fault ? spec::ManagementStatus::context_memory_fault
                                                              : spec::ManagementStatus::bad_object);
}

} // namespace fpga_verbs::hca
