#pragma once

#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/port/port_attributes.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>

namespace fpga_verbs::hca {

// Reports to every function when a port becomes active or goes down (InfiniBand volume 1, 11.6.3).
class PortStates {
public:
  PortStates(const HcaParameters& parameters, const PortAttributes& attributes, EventPort& events);

  // Checks for a change.
  void look();

private:
  void report(unsigned port, spec::EventType type);

  const HcaParameters& parameters_;
  const PortAttributes& attributes_;
  EventPort& events_;
  std::array<spec::PortState, spec::ports> told_{}; // by port
};

} // namespace fpga_verbs::hca
