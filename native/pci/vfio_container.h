#pragma once

#include "board/dma_memory.h"
#include "pci/address_allocator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

// An IOMMU domain of VFIO (type 1) with one group in it (Linux, driver-api/vfio).
class VfioContainer {
public:
  // Opens the group of which `group_path` is the file. DMA addresses are below 2^`address_bits`: what the
  // device can say. Null: `failure` says why, `error` is its errno.
  static std::unique_ptr<VfioContainer> open(const std::string& container_path, const std::string& group_path,
                                             unsigned address_bits, std::string& failure, int& error);
  ~VfioContainer();
  VfioContainer(const VfioContainer&) = delete;
  VfioContainer& operator=(const VfioContainer&) = delete;

  // The file of a device of the group; negative: errno says why.
  int open_device(const std::string& address) const;

  // Maps the pages that hold `bytes` at `memory`; the low bits of the address are those of `memory`. The
  // address is that of the memory itself where the IOMMU takes it. Empty: errno says why; ENOSPC: no address
  // is left.
  std::optional<uint64_t> map(void* memory, size_t bytes, board::DmaRights rights);

  // False: no mapping was given this address.
  bool unmap(uint64_t address);

private:
  VfioContainer(int container, int group);
  bool prepare(unsigned address_bits, const std::string& group_path, std::string& failure);
  std::vector<AddressRange> query_ranges(uint64_t last_address);

  int container_;
  int group_;
  uint64_t page_bytes_;
  std::optional<AddressAllocator> addresses_;
};

} // namespace fpga_verbs::pci
