#pragma once

#include "hca/base/clock.h"
#include "hca/base/host_port.h"
#include "hca/base/object_facts.h"
#include "hca/base/watch_port.h"
#include "hca/collect/bar_write.h"
#include "hca/port/port.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace fpga_verbs::board {

// The device in an emulated board: the Hca, or a simpler one in tests of the board. Called under
// the board's lock. The calls mean what they mean in hca/hca.h.
class Device {
public:
  virtual ~Device() = default;
  virtual bool can_accept_write() const = 0;
  virtual void write(const hca::BarWrite& write) = 0;
  virtual bool write_burst(const hca::BarWrite& /*burst*/) { return false; }
  virtual uint32_t read(spec::RegionType region, unsigned page, uint32_t offset) = 0;
  virtual unsigned run(unsigned limit) = 0;
  // For a device whose blocks hand data units on.
  virtual void pass_by_empty_links(bool /*on*/) {}
  // A link of a port has something new.
  virtual void notify_port() = 0;
  virtual uint64_t next_deadline() const = 0;
  // Function-level reset: no driver has the function any more, whatever was left of it.
  virtual void reset_function(unsigned /*underlying_function*/) {}
  // For observers. A device that is none of ours is not watched, and shows nothing.
  virtual void watch(const hca::Watched& /*watched*/) {}
  virtual uint32_t inspect_queue_pairs(const hca::Inspection& /*inspection*/,
                                       std::vector<hca::QueuePairFacts>& /*found*/) {
    return 0;
  }
  virtual uint32_t inspect_regions(const hca::Inspection& /*inspection*/,
                                   std::vector<hca::RegionFacts>& /*found*/) {
    return 0;
  }
  // The contradiction in its state: at any time, and when it has nothing to do and no message is unfinished.
  // Null: none.
  virtual const char* verify() const { return nullptr; }
  virtual const char* verify_at_rest() const { return nullptr; }
};

inline constexpr uint64_t no_deadline = ~uint64_t{0};

// Where a device is plugged in; all of it outlives the device.
struct DeviceSlot {
  hca::HostPort& host;
  const hca::Clock& clock;
  const hca::PortAttachments& ports;
  unsigned board_number; // its addresses follow from it
};

// Makes the device of a board.
using DeviceFactory = std::function<std::unique_ptr<Device>(const DeviceSlot&)>;

} // namespace fpga_verbs::board
