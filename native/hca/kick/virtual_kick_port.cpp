#include "hca/kick/virtual_kick_port.h"

namespace fpga_verbs::hca {

bool VirtualKickPort::set_lanes(unsigned underlying_function, spec::QualityOfServiceLevel level,
                                uint64_t lanes) {
  LaneMap changed = map();
  changed.functions[underlying_function][static_cast<unsigned>(level)] = lanes;
  return set_map(changed);
}

bool VirtualKickPort::set_shared_lanes(uint64_t lanes) {
  LaneMap changed = map();
  changed.shared = lanes;
  return set_map(changed);
}

VirtualKickPort::NextLane VirtualKickPort::next_lane(const WaitingForRoom::Waiter& queue_pair) {
  const QueuePairLane held = queue_pair_lane(queue_pair.queue_pair_number);
  if (held.commands != 0)
    return {.lane = held.lane, .bound = true};
  return {.lane = choose_lane(queue_pair.underlying_function, queue_pair.level)};
}

spec::control::LaneState VirtualKickPort::lane_state(unsigned lane) const {
  spec::control::LaneState state;
  state.set_commands(listed(lane));
  state.set_execution_credits(own_credits_free(CreditKind::execution, lane));
  state.set_completion_credits(own_credits_free(CreditKind::completion, lane));
  state.set_shared_execution_credits(shared_credits_held(CreditKind::execution, lane));
  state.set_shared_completion_credits(shared_credits_held(CreditKind::completion, lane));
  return state;
}

} // namespace fpga_verbs::hca
