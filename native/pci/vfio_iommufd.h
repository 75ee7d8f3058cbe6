#pragma once

#include "pci/vfio_domain.h"

#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

// A domain as an address space of iommufd, and the device by a file of its own: where the kernel has them
// (6.6).
class VfioIommufd final : public VfioDomain {
public:
  // Opens /dev/iommu and /dev/vfio/devices/vfioN. Null: `failure` says why, `error` is its errno.
  static std::unique_ptr<VfioIommufd> open(const std::string& iommu_path, const std::string& device_path,
                                           unsigned address_bits, std::string& failure, int& error);
  ~VfioIommufd() override;

  // Whether a function that iommufd did not give with this errno may be had through its group: the kernel has
  // not all of it, or the files are not the user's.
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
