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

  // False, without a change: not 8 B aligned.
  bool set_address(uint64_t address);
  uint64_t address() const { return address_; }

  // Entries, one bit each, to read again before the next command of their level selects a lane.
  void invalidate(uint32_t entries) { invalid_ |= entries; }
  bool any_invalid() const { return invalid_ != 0; }

  // Reads the entry of a function's level if it is invalid and makes it valid: the lanes, one bit each.
  // Nothing: it was valid, or could not be read, which is reported.
  std::optional<uint64_t> read_invalid(unsigned underlying_function, spec::QualityOfServiceLevel level);

private:
  Counters& counters_;
  HostPort& host_;
  EventPort& events_;
  uint64_t address_ = 0; // DMA address of the table
  uint32_t invalid_ = 0; // a bit for each entry
};

} // namespace fpga_verbs::hca
