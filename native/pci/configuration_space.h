#pragma once

#include <cstdint>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <optional>
#include <unistd.h>

namespace fpga_verbs::pci {

// Reads the command register of the configuration space at `begin` of a file. Empty: the read failed.
inline std::optional<uint16_t> read_command_register(int file, uint64_t begin) {
  uint16_t command = 0;
  const auto at = static_cast<off_t>(begin + PCI_COMMAND);
  if (pread(file, &command, sizeof command, at) != sizeof command)
    return std::nullopt;
  return command;
}

// Sets or clears bus mastering of a function and its response to memory accesses. False: the write failed.
inline bool set_bus_master(int file, uint64_t begin, bool master) {
  const std::optional<uint16_t> before = read_command_register(file, begin);
  if (!before)
    return false;
  const auto command = static_cast<uint16_t>((*before & ~PCI_COMMAND_MASTER) | PCI_COMMAND_MEMORY |
                                             (master ? PCI_COMMAND_MASTER : 0));
  const auto at = static_cast<off_t>(begin + PCI_COMMAND);
  return pwrite(file, &command, sizeof command, at) == sizeof command;
}

} // namespace fpga_verbs::pci
