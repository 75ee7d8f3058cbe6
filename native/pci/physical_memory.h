#pragma once

#include "board/dma_memory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::pci {

// Memory with known, stable physical addresses: hugepages of 2 MiB, for functions without an IOMMU. The
// addresses come from /proc/self/pagemap, which requires CAP_SYS_ADMIN. One thread at a time uses it, except
// to free an allocation.
class PhysicalMemory : public std::enable_shared_from_this<PhysicalMemory> {
public:
  static std::shared_ptr<PhysicalMemory> make() {
    return std::shared_ptr<PhysicalMemory>(new PhysicalMemory);
  }
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  // Allocates at least `bytes`, zeroed, in whole pages of 4 KiB, physically contiguous from `address` on.
  // Empty: `failure` gives the reason and a remedy.
  board::DmaMemory allocate(size_t bytes, uint64_t& address, std::string& failure);

  // The file of the hugepages; while a process has it open, the kernel does not reuse them. Negative: there
  // are none yet.
  int file() const { return file_; }

  static constexpr size_t huge_page_bytes = size_t{1} << 21;

private:
  // Physically contiguous hugepages, mapped contiguously.
  struct Run {
    uint8_t* memory = nullptr;
    size_t bytes = 0;
    uint64_t physical = 0;
    std::map<size_t, size_t> free; // bytes, by offset in the run
  };

  PhysicalMemory() = default;
  bool add_run(size_t huge_pages, std::string& failure);
  bool add_pages(size_t count, std::string& failure);
  bool find_run(size_t huge_pages);
  board::DmaMemory take(Run& run, size_t bytes, uint64_t& address);
  static void give_back(Run& run, size_t offset, size_t bytes);

  int file_ = -1;                           // holds the hugepages
  size_t file_pages_ = 0;                   // hugepages of it
  std::map<uint64_t, uint64_t> free_pages_; // offset in the file, by physical address: in no run
  std::vector<std::unique_ptr<Run>> runs_;
};

} // namespace fpga_verbs::pci
