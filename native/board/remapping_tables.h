#pragma once

#include "board/iommu.h"

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::board {

// Where a machine's unit for DMA remapping finds a function's tables.
struct RemappingRoot {
  uint64_t root_table = 0; // physical address, whole pages
  uint16_t source_id = 0;  // bus 15:8, device 7:3, function 2:0
};

// The tables of a machine's unit for DMA remapping, which lie in that machine's memory, in legacy mode: root
// and context entry, then up to four levels of second-level entries (Intel Virtualization Technology for
// Directed I/O, 3.4 and 3.7). They are read at each access, so that what the machine takes back is gone with
// its own store, whether it invalidates or not.
class RemappingTables final : public PageTables {
public:
  // `memory`: of the machine, from its physical address 0 on; what lies beyond is not mapped.
  RemappingTables(uint8_t* memory, size_t bytes, const RemappingRoot& root)
      : memory_(memory), bytes_(bytes), root_(root) {}

  IommuPage find(uint64_t page) const override;

private:
  struct Context {
    uint64_t low = 0;
    uint64_t high = 0;
  };

  Context context() const;
  uint64_t load(uint64_t address) const; // 0, which is not present, beyond its memory
  IommuPage page_at(uint64_t address, DmaRights rights) const;

  uint8_t* memory_;
  size_t bytes_;
  RemappingRoot root_;
};

} // namespace fpga_verbs::board
