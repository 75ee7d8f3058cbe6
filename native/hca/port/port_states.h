#pragma once

#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/port/port_attributes.h"
#include "spec/enums.h"

namespace fpga_verbs::hca {

// Reports to every function when a port becomes active or goes down (InfiniBand volume 1, 11.6.3).
class PortStates {
public:
  PortStates(const HcaParameters& parameters, const PortAttributes& attributes, EventPort& events);

  // Checks for a change.
  void look() {
    if (attributes_.active_ports() != reported_) [[unlikely]]
      report_changes();
  }

private:
  void report_changes();
  void report(unsigned port, spec::EventType type);

  const HcaParameters& parameters_;
  const PortAttributes& attributes_;
  EventPort& events_;
  unsigned reported_; // the ports that are active, as PortAttributes gives them
};

} // namespace fpga_verbs::hca
