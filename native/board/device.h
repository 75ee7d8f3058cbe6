#pragma once

#include "hca/base/clock.h"
#include "hca/base/host_port.h"
#include "hca/base/object_facts.h"
#include "hca/base/watch_port.h"
#include "hca/collect/bar_write.h"
#include "hca/port/port.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace fpga_verbs::board {

// The device in an emulated board: the Hca, or a simpler one in tests of the board. Called under the board's
// lock. hca/hca.h specifies the calls.
class Device {
public:
  virtual ~Device() = default;
  virtual bool can_accept_write() const = 0;
  virtual void write(const hca::BarWrite& write) = 0;
  virtual bool write_burst(const hca::BarWrite& /*burst*/) { return false; }
  virtual uint32_t read(spec::RegionType region, unsigned page, uint32_t offset) = 0;
  virtual unsigned run(unsigned limit) = 0;
  // Lets blocks of the device hand data units on within a step, past links that are empty; or stops it.
  virtual void pass_by_empty_links(bool /*on*/) {}
  // The link of a port has a packet, or room for one.
  virtual void notify_port() = 0;
  virtual uint64_t next_deadline() const = 0;
  // Function-level reset: no driver has the function any more, whatever state the last one left.
  virtual void reset_function(unsigned /*underlying_function*/) {}
  // For observers. A device other than the Hca cannot be watched and shows nothing.
  virtual void watch(const hca::Watched& /*watched*/) {}
  virtual uint32_t inspect_queue_pairs(const hca::Inspection& /*inspection*/,
                                       std::vector<hca::QueuePairFacts>& /*found*/) {
    return 0;
  }
  virtual uint32_t inspect_regions(const hca::Inspection& /*inspection*/,
                                   std::vector<hca::RegionFacts>& /*found*/) {
    return 0;
  }
  // For faults: the data units that wait in the device, the function of one of them by its rank, and flipping
  // one or two stored bits of it. A device other than the Hca holds none.
  virtual size_t held_data_units() const { return 0; }
  virtual unsigned owner_of_data_unit(size_t /*rank*/) const { return 0; }
  virtual void flip_bits(size_t /*rank*/, uint64_t /*random*/, unsigned /*bits*/) {}
  // Checks the device's consistency: at any time, or when it is idle and no message is unfinished. Returns a
  // description of the first inconsistency, or null.
  virtual const char* verify() const { return nullptr; }
  virtual const char* verify_at_rest() const { return nullptr; }
};

inline constexpr uint64_t no_deadline = ~uint64_t{0};

// The surroundings of a device; all of them outlive it.
struct DeviceSlot {
  hca::HostPort& host;
  const hca::Clock& clock;
  const hca::PortAttachments& ports;
  unsigned board_number; // its addresses follow from it
};

// Creates the device of a board.
using DeviceFactory = std::function<std::unique_ptr<Device>(const DeviceSlot&)>;

} // namespace fpga_verbs::board
