#pragma once

#include "spec/data_units.h"

namespace fpga_verbs::hca {

// The end of a started command, which returns both its credits at once.
inline spec::FinishUnit finish_of(const spec::KickUnit& kick) {
  spec::FinishUnit unit;
  unit.set_physical_collect_buffer(kick.physical_collect_buffer());
  unit.set_transmit_virtual_lane(kick.transmit_virtual_lane());
  unit.set_underlying_function(kick.underlying_function());
  unit.set_quality_of_service_level(kick.quality_of_service_level());
  unit.set_execution_credit_shared(kick.execution_credit_shared());
  unit.set_completion_credit_shared(kick.completion_credit_shared());
  unit.set_execution_credit_returned(1);
  unit.set_completion_credit_returned(1);
  unit.set_finished(1);
  unit.set_queue_pair_number(kick.queue_pair_number());
  unit.set_send_queue_sequence_number(kick.send_queue_sequence_number());
  return unit;
}

} // namespace fpga_verbs::hca
