#include "pci/bar_range.h"

#include <sys/mman.h>

namespace fpga_verbs::pci {

BarRange BarRange::map(int file, uint64_t file_offset, unsigned bar, uint64_t offset, size_t bytes,
                       board::CommandMapping mapping) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(file_offset));
  return {memory == MAP_FAILED ? nullptr : static_cast<volatile uint8_t*>(memory), bar, offset, bytes,
          mapping};
}

BarRange::~BarRange() {
  if (memory_ != nullptr)
    munmap(const_cast<uint8_t*>(memory_), bytes_);
}

} // namespace fpga_verbs::pci
