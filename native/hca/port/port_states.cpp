#include "hca/port/port_states.h"

#include <utility>

namespace fpga_verbs::hca {

PortStates::PortStates(const HcaParameters& parameters, const PortAttributes& attributes, EventPort& events)
    : parameters_(parameters), attributes_(attributes), events_(events),
      reported_(attributes.active_ports()) {}

void PortStates::report_changes() {
  const unsigned active = attributes_.active_ports();
  const unsigned changed = std::exchange(reported_, active) ^ active;
  for (unsigned port = 1; port <= parameters_.ports; ++port)
    if ((changed & PortAttributes::bit(port)) != 0)
      report(port, (active & PortAttributes::bit(port)) != 0 ? spec::EventType::port_active
                                                             : spec::EventType::port_error);
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
