#include "hca/port/port_states.h"

#include <utility>

namespace fpga_verbs::hca {

PortStates::PortStates(const HcaParameters& parameters, const PortAttributes& attributes, EventPort& events)
    : parameters_(parameters), attributes_(attributes), events_(events) {
  for (unsigned port = 1; port <= parameters_.ports; ++port)
    told_[port - 1] = attributes_.state(port);
}

void PortStates::look() {
  for (unsigned port = 1; port <= parameters_.ports; ++port) {
    const spec::PortState state = attributes_.state(port);
    if (std::exchange(told_[port - 1], state) != state)
      report(port,
             state == spec::PortState::active ? spec::EventType::port_active : spec::EventType::port_error);
  }
}

void PortStates::report(unsigned port, spec::EventType type) {
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function) {
    spec::EventUnit event;
    event.set_type(type);
    event.set_underlying_function(function);
    event.set_object(port);
    events_.report(event);
  }
}

} // namespace fpga_verbs::hca
