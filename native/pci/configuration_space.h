#pragma once

#include <cstdint>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <unistd.h>

namespace fpga_verbs::pci {

// Lets a function be bus master, or not, and answer to memory accesses, by the file of its configuration
// space that begins at `begin` of it. False: the file does not take it.
inline bool set_bus_master(int file, uint64_t begin, bool master) {
  uint16_t command = 0;
  const auto at = static_cast<off_t>(begin + PCI_COMMAND);
  if (pread(file, &command, sizeof command, at) != sizeof command)
    return false;
  command = static_cast<uint16_t>((command & ~PCI_COMMAND_MASTER) | PCI_COMMAND_MEMORY |
                                  (master ? PCI_COMMAND_MASTER : 0));
  return pwrite(file, &command, sizeof command, at) == sizeof command;
}

} // namespace fpga_verbs::pci
