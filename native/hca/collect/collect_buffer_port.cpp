#include "hca/collect/collect_buffer_port.h"

namespace fpga_verbs::hca {

void CollectBufferPort::Ports::report(const spec::EventUnit& event) const {
  FunctionCounters& of_function = counters.function[event.underlying_function()];
  if (event.type() == spec::EventType::half_written_command)
    ++of_function.half_written_commands;
  else
    ++of_function.commands_refused;
  if (event.reason() == static_cast<uint32_t>(spec::Refusal::checksum_mismatch))
    ++of_function.checksum_mismatches;
  events.report(event);
}

void CollectBufferPort::break_management_lock(uint16_t buffer) {
  for (unsigned function = 0; function < spec::underlying_functions; ++function)
    if (management_lock(function) == buffer)
      unlock_management(function);
}

void CollectBufferPort::reset_function(unsigned underlying_function) {
  const VirtualCollectBufferBar owned = bar(underlying_function);
  for (unsigned offset = 0; offset < owned.count; ++offset)
    cancel(owned.base + offset);
  unlock_management(underlying_function);
}

} // namespace fpga_verbs::hca
