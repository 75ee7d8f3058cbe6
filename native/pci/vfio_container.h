#pragma once

#include "pci/vfio_domain.h"

#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

// A domain as a VFIO container (type 1) with one group (Linux, driver-api/vfio): available on every kernel
// with VFIO.
class VfioContainer final : public VfioDomain {
public:
  // Opens the function `address` of the group whose file is `group_path`. Null: `failure` gives the reason,
  // `error` its errno.
  static std::unique_ptr<VfioContainer> open(const std::string& container_path, const std::string& group_path,
                                             const std::string& address, unsigned address_bits,
                                             std::string& failure, int& error);
  ~VfioContainer() override;

private:
  VfioContainer(int container, int group) : container_(container), group_(group) {}
  bool prepare(const std::string& group_path, const std::string& address, std::string& failure);
  std::vector<AddressRange> query_ranges() const;
  bool map_pages(uint64_t memory, uint64_t address, uint64_t bytes, board::DmaRights rights) override;
  bool unmap_pages(uint64_t address, uint64_t bytes) override;

  int container_;
  int group_;
};

} // namespace fpga_verbs::pci
