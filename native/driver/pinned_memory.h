#pragma once

#include "driver/program_memory.h"
#include "pci/sysfs_function.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace fpga_verbs::driver {

struct MappedRange;

// Memory of the program that a device without an IOMMU reaches: the kernel pins its pages, and the device
// gets their physical addresses. No copies are made. Thread-safe.
class PinnedMemory final : public ProgramMemory {
public:
  explicit PinnedMemory(pci::SysfsFunction& function) : function_(function) {}

  int map(void* memory, size_t bytes, std::vector<DmaPiece>& pieces, uint64_t& mapping,
          std::string& failure) override;
  void unmap(uint64_t mapping) override;

private:
  using Pins = std::vector<unsigned>;
  using Ranges = std::vector<MappedRange>;

  int pin(const Ranges& ranges, Pins& pins, std::string& failure);

  pci::SysfsFunction& function_;
  std::mutex mutex_;
  std::map<uint64_t, Pins> mappings_; // by what unmap() takes
  uint64_t last_ = 0;
};

} // namespace fpga_verbs::driver
