#pragma once

#include "pci/dma_guard.h"
#include "pci/mapped_function.h"
#include "pci/physical_memory.h"
#include "pci/pinned_pages.h"

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

// A part of a BAR, and the sysfs file from which it is mapped.
struct SysfsRange {
  std::string path; // resourceN or resourceN_wc
  unsigned bar = 0;
  uint64_t offset = 0; // in the BAR and in the file, whole pages
  size_t bytes = 0;    // whole pages
  board::CommandMapping mapping = board::CommandMapping::uncached;
};

struct SysfsFunctionSetup {
  std::string configuration_path; // the file `config` of the function
  std::string reset_path;         // the file `reset`; empty: it is not reset
  std::vector<SysfsRange> ranges;
  unsigned underlying_function = 0;
  bool pins_pages = false; // for pinned_pages()
};

// A PCI function through sysfs files, without an IOMMU: DMA addresses are physical addresses, and there are
// no interrupts.
class SysfsFunction final : public MappedFunction {
public:
  // Locks the function, stops DMA that a killed process left running, resets the function, and maps its
  // ranges. The function becomes bus master with the first memory allocation, under a DmaGuard. Null:
  // `failure` gives the reason, `error` its errno.
  static std::shared_ptr<SysfsFunction> open(const SysfsFunctionSetup& setup, std::string& failure,
                                             int& error);
  ~SysfsFunction() override;

  board::DmaMemory allocate_dma(size_t bytes, uint64_t& address, std::string& failure) override;
  const char* foreign_memory_refusal() const override;
  std::optional<uint64_t> map_dma(void* memory, size_t bytes, board::DmaRights rights) override;
  bool unmap_dma(uint64_t address) override;
  void stop_dma() override;

  // For memory of the process that the device reaches, which stays pinned until DMA has ended, even if the
  // process is killed. Null: errno has the reason.
  PinnedPages* pinned_pages();
  int interrupt_event(unsigned vector) override;

private:
  SysfsFunction(int configuration, unsigned underlying_function);

  int configuration_;
  std::shared_ptr<PhysicalMemory> memory_;
  std::unique_ptr<PinnedPages> pinned_pages_;
  int pinning_error_ = EOPNOTSUPP;
  std::unique_ptr<DmaGuard> guard_; // while it is bus master
};

} // namespace fpga_verbs::pci
