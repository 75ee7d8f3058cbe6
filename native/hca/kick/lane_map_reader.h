#pragma once

#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// Reads entries of the TVL mapping table that the control function keeps in host memory (US8484392, 71).
class LaneMapReader {
public:
  LaneMapReader(Counters& counters, HostPort& host, EventPort& events)
      : counters_(counters), host_(host), events_(events) {}

  // Index of an entry.
  static uint32_t entry(unsigned underlying_function, spec::QualityOfServiceLevel level) {
    return underlying_function * spec::quality_of_service_levels + static_cast<uint32_t>(level);
  }

  // False, and nothing changed: not 8 B aligned.
  bool set_address(uint64_t address);
  uint64_t address() const { return address_; }

  // The lanes of a function's level, a bit each. Nothing: they could not be read, which is reported.
  std::optional<uint64_t> read(unsigned underlying_function, spec::QualityOfServiceLevel level);

private:
  Counters& counters_;
  HostPort& host_;
  EventPort& events_;
  uint64_t address_ = 0; // DMA address of the table
};

} // namespace fpga_verbs::hca
