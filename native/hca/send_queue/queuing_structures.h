#pragma once

#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// The queuing structures (US8589610): for each function and QoS level, a FIFO in host memory of the queue
// pairs that the scheduler must serve, and their turns.
//
// A queue pair is in at most one FIFO, once. The device remembers which one: it accepts an entry only if that
// entry was written there, and it loses no queue pair when a FIFO becomes unreachable or its content changes.
// Such a FIFO is condemned, and its queue pairs are removed one by one.
class QueuingStructures {
public:
  struct Waiting {
    unsigned underlying_function = 0;
    uint32_t queue_pair_number = 0;
  };
  struct TurnedOut {
    Waiting waiting;
    spec::Refusal refusal = spec::Refusal::none;
  };

  QueuingStructures(const HcaParameters& parameters, Counters& counters, HostPort& host, EventPort& events);

  // Sets the addresses of a function's FIFOs, which must be empty. Registers queuing_structure_address and
  // _size.
  void set_address(unsigned underlying_function, spec::QualityOfServiceLevel level, uint64_t address);
  uint64_t address(unsigned underlying_function, spec::QualityOfServiceLevel level) const;
  void set_size(unsigned underlying_function, spec::underlying_function::QueuingStructureSize size) {
    sizes_[underlying_function] = size;
  }
  spec::underlying_function::QueuingStructureSize size(unsigned underlying_function) const {
    return sizes_[underlying_function];
  }

  // Appends a queue pair. One that already waits keeps its place.
  void append(const spec::ScheduleRequest& request);

  // Whether a valid FIFO has an entry.
  bool any() const { return ready_functions_ != 0; }

  // Takes the entry at the head of the FIFO whose turn it is: functions in turn, and the levels of each in
  // turn. Nothing: the FIFO had to be condemned.
  std::optional<Waiting> take();

  // Whether a FIFO is condemned.
  bool condemned() const { return condemned_count_ != 0; }

  // Checks one queue pair index, and removes its queue pair from a condemned FIFO. An empty FIFO is valid
  // again.
  std::optional<TurnedOut> turn_out();

  // Clears the FIFOs of a function and their addresses.
  void reset_function(unsigned underlying_function);

  // For tests: the waiting queue pairs agree with the FIFOs.
  bool verify() const;

private:
  static constexpr unsigned structures_ = spec::underlying_functions * spec::quality_of_service_levels;
  static constexpr uint8_t nowhere = 0xff;

  struct Structure {
    uint64_t address = 0;
    uint32_t head = 0; // entries taken, free-running
    uint32_t tail = 0; // entries written, free-running
    uint32_t waiting = 0;
    spec::Refusal condemned = spec::Refusal::none; // why
  };
  // The place where the queue pair of an index waits.
  struct Place {
    uint8_t structure = nowhere;
    uint8_t generation = 0;
  };

  static unsigned index_of(unsigned underlying_function, spec::QualityOfServiceLevel level);
  unsigned next_structure();
  uint32_t entries(unsigned structure) const;
  uint64_t entry_address(unsigned structure, uint32_t sequence) const;
  void condemn(unsigned structure, spec::Refusal refusal);
  void fault(unsigned structure, uint64_t address);
  void note_ready(unsigned structure);

  Counters& counters_;
  HostPort& host_;
  EventPort& events_;
  std::array<Structure, structures_> all_{};
  std::array<spec::underlying_function::QueuingStructureSize, spec::underlying_functions> sizes_{};
  std::vector<Place> places_;                                      // by queue pair index
  std::array<uint8_t, spec::underlying_functions> ready_levels_{}; // a bit per level
  uint32_t ready_functions_ = 0;                                   // a bit each
  std::array<uint8_t, spec::underlying_functions> last_level_{};
  unsigned last_function_ = 0;
  unsigned condemned_count_ = 0;
  uint32_t next_turned_out_ = 0;
};

} // namespace fpga_verbs::hca
