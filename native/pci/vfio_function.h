#pragma once

#include "pci/mapped_function.h"
#include "pci/vfio_container.h"

#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

struct VfioFunctionSetup {
  std::string container_path; // /dev/vfio/vfio
  std::string group_path;     // /dev/vfio/N
  std::string address;        // DDDD:BB:DD.F
  unsigned address_bits = 64; // of DMA addresses that the device can say
  unsigned underlying_function = 0;
};

// A PCI function through VFIO: its DMA reaches what is mapped, its MSI-X or MSI vectors signal eventfds. The
// kernel resets it when it is opened and when it is closed, where it can be reset.
class VfioFunction final : public MappedFunction {
public:
  // Null: `failure` says why, `error` is its errno.
  static std::shared_ptr<VfioFunction> open(const VfioFunctionSetup& setup, std::string& failure, int& error);
  ~VfioFunction() override;

  board::DmaMemory allocate_dma(size_t bytes, uint64_t& address, std::string& failure) override;
  std::optional<uint64_t> map_dma(void* memory, size_t bytes, board::DmaRights rights) override;
  std::string mapping_failure() const override;
  bool unmap_dma(uint64_t address) override;
  void stop_dma() override;
  int interrupt_event(unsigned vector) override;

private:
  VfioFunction(std::unique_ptr<VfioContainer> container, int device, unsigned underlying_function);
  bool map_bars(std::string& failure);
  bool enable_interrupts(std::string& failure);
  void set_master(bool master);

  std::unique_ptr<VfioContainer> container_;
  int device_;
  int mapping_error_ = 0;   // errno of the mapping that failed last
  std::vector<int> events_; // eventfd by vector
};

} // namespace fpga_verbs::pci
