#pragma once

#include "hca/bar_write.h"
#include "hca/clock.h"
#include "hca/host_port.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace fpga_verbs::board {

// What is plugged into an emulated board: the Hca, or a simpler device in tests of the board. Called under
// the board's lock. The calls mean what they mean in hca/hca.h.
class Device {
public:
  virtual ~Device() = default;
  virtual bool can_accept_write() const = 0;
  virtual void write(const hca::BarWrite& write) = 0;
  virtual uint32_t read(spec::RegionType region, unsigned page, uint32_t offset) = 0;
  virtual bool step() = 0;
  virtual uint64_t next_deadline() const = 0;
};

inline constexpr uint64_t no_deadline = ~uint64_t{0};

// Makes the device of a board; host and clock outlive it.
using DeviceFactory = std::function<std::unique_ptr<Device>(hca::HostPort&, const hca::Clock&)>;

} // namespace fpga_verbs::board
