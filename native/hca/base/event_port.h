#pragma once

#include "spec/data_units.h"

namespace fpga_verbs::hca {

// The interface through which blocks report events: event_queue.
class EventPort {
public:
  virtual ~EventPort() = default;

  // Always accepts. An event without a queue, or with a full one, is dropped and counted.
  virtual void report(const spec::EventUnit& event) = 0;
};

} // namespace fpga_verbs::hca
