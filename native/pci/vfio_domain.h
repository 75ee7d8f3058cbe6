#pragma once

#include "board/dma_memory.h"
#include "pci/address_allocator.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

// An IOMMU domain with one device in it, and that device's file.
class VfioDomain {
public:
  virtual ~VfioDomain();
  VfioDomain(const VfioDomain&) = delete;
  VfioDomain& operator=(const VfioDomain&) = delete;

  // The file of the device, closed with the domain.
  int device() const { return device_; }

  // Maps the pages that hold `bytes` at `memory`; the low bits of the address are those of `memory`. The IOVA
  // equals the memory's own address if the IOMMU accepts that. Empty: errno has the reason; ENOSPC: no
  // address is left.
  std::optional<uint64_t> map(void* memory, size_t bytes, board::DmaRights rights);

  // Unmaps the mapping at this address. False: there is none.
  bool unmap(uint64_t address);

protected:
  VfioDomain();

  void set_device(int device) { device_ = device; }
  void close_device(); // before what its DMA goes through
  // The ranges that the IOMMU accepts, ascending, limited to the device's addresses below 2^`address_bits`.
  void set_ranges(const std::vector<AddressRange>& ranges, unsigned address_bits);

  // Whole pages. False: errno says why.
  virtual bool map_pages(uint64_t memory, uint64_t address, uint64_t bytes, board::DmaRights rights) = 0;
  virtual bool unmap_pages(uint64_t address, uint64_t bytes) = 0;

private:
  int device_ = -1;
  uint64_t page_bytes_;
  std::optional<AddressAllocator> addresses_;
};

} // namespace fpga_verbs::pci
