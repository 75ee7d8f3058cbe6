#pragma once

#include "board/board.h"

#include <cstdint>
#include <memory>
#include <poll.h>
#include <string>

namespace fpga_verbs::driver {

class ProgramMemory;

// How a function of a kind is known on PCIe.
struct PciIdentity {
  uint32_t vendor = 0x1234; // of emulated boards, as fpga/spec/pci_functions.json has it
  uint32_t device = 0x4856;
};

// One underlying function of a board, of any kind: BARs, memory that the device reaches, interrupts,
// progress.
class Backend {
public:
  virtual ~Backend() = default;

  // Opens the function once more, for a thread or an object of its own. Null: `failure` says why.
  virtual std::shared_ptr<board::BoardFunction> open(std::string& failure) = 0;

  // Lets the device work where polling drives it; on any thread. False: it has nothing to do, or works on its
  // own.
  virtual bool advance() = 0;

  virtual PciIdentity identity() const { return {}; }

  // By which the removal event of its functions says that the device is gone: events of poll(2).
  virtual short removal_condition() const { return POLLIN; }

  // By which the device reaches memory of the program; null: the function maps it.
  virtual ProgramMemory* program_memory() { return nullptr; }
};

// The board that a device string names. Null: `failure` says why, and `error` is what a verb gives: EINVAL,
// the string; ENODEV, nothing is there; ENOTSUP, this version does not open such a device.
std::unique_ptr<Backend> open_backend(const std::string& device, int& error, std::string& failure);

} // namespace fpga_verbs::driver
