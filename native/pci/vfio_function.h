#pragma once

#include "pci/mapped_function.h"
#include "pci/vfio_domain.h"

#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

struct VfioFunctionSetup {
  std::string iommu_path;     // /dev/iommu; empty: the kernel has none
  std::string device_path;    // /dev/vfio/devices/vfioN; empty: the same
  std::string container_path; // /dev/vfio/vfio
  std::string group_path;     // /dev/vfio/N
  std::string address;        // DDDD:BB:DD.F
  unsigned address_bits = 64; // of DMA addresses that the device can say
  unsigned underlying_function = 0;
};

// A PCI function through VFIO: its DMA reaches only mapped memory, and its MSI-X or MSI vectors signal
// eventfds. The kernel resets it on open and close if it can. Uses iommufd if the kernel has it and the user
// may open its files, otherwise the function's group.
//
// The kernel raises one interrupt to request the function back, for removal or unbinding, and waits until it
// is closed; and another when the function has reported an uncorrected error.
class VfioFunction final : public MappedFunction {
public:
  // Null: `failure` gives the reason, `error` its errno.
  static std::shared_ptr<VfioFunction> open(const VfioFunctionSetup& setup, std::string& failure, int& error);
  ~VfioFunction() override;

  board::DmaMemory allocate_dma(size_t bytes, uint64_t& address, std::string& failure) override;
  std::optional<uint64_t> map_dma(void* memory, size_t bytes, board::DmaRights rights) override;
  std::string mapping_failure() const override;
  bool unmap_dma(uint64_t address) override;
  void stop_dma() override;
  int interrupt_event(unsigned vector) override;
  int removal_event() override { return removal_; }
  const char* loss() override;
  void give_up() override;

private:
  VfioFunction(std::unique_ptr<VfioDomain> domain, unsigned underlying_function);
  bool map_bars(std::string& failure);
  bool enable_interrupts(std::string& failure);
  bool watch_removal(std::string& failure);
  bool set_master(bool master);

  std::unique_ptr<VfioDomain> domain_; // null: given up
  int mapping_error_ = 0;              // errno of the mapping that failed last
  std::vector<int> events_;            // eventfd by vector
  int request_ = -1;                   // eventfd: the kernel wants the function back
  int error_ = -1;                     // eventfd: the function has reported an error
  int removal_ = -1;                   // epoll of those two and of faults
};

} // namespace fpga_verbs::pci
