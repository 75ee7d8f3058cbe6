#pragma once

#include "driver/backend.h"

#include <memory>
#include <string>

namespace fpga_verbs::driver {

// Opens a PCI function through sysfs, without an IOMMU. `address`: DDDD:BB:DD.F. Null: as open_backend().
std::unique_ptr<Backend> open_pci(const std::string& address, int& error, std::string& failure);

} // namespace fpga_verbs::driver
