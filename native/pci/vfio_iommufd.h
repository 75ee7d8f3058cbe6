#pragma once

#include "pci/vfio_domain.h"

#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

// A domain as an address space of iommufd, with a separate file for the device, on kernels that have them
// (6.6).
class VfioIommufd final : public VfioDomain {
public:
  // Opens /dev/iommu and /dev/vfio/devices/vfioN. Null: `failure` gives the reason, `error` its errno.
  static std::unique_ptr<VfioIommufd> open(const std::string& iommu_path, const std::string& device_path,
                                           unsigned address_bits, std::string& failure, int& error);
  ~VfioIommufd() override;

  // Whether to try the function's group after iommufd failed with this errno: the kernel lacks a part of
  // iommufd, or the user may not open its files.
  static bool may_be_in_group(int error);

private:
  explicit VfioIommufd(int iommu) : iommu_(iommu) {}
  bool prepare(const std::string& device_path, std::string& failure);
  std::vector<AddressRange> query_ranges() const;
  bool map_pages(uint64_t memory, uint64_t address, uint64_t bytes, board::DmaRights rights) override;
  bool unmap_pages(uint64_t address, uint64_t bytes) override;

  int iommu_;
  uint32_t address_space_ = 0;
};

} // namespace fpga_verbs::pci
