#pragma once

#include "spec/data_units.h"

namespace fpga_verbs::hca {

// Where blocks report what happened: event_queue.
class EventPort {
public:
  virtual ~EventPort() = default;

  // Always accepts; an event that finds no queue, or a full one, is dropped and counted.
  virtual void report(const spec::EventUnit& event) = 0;
};

} // namespace fpga_verbs::hca
