#pragma once

#include "board/iommu.h"

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::board {

// Location of a function's tables in a machine's memory, for the machine's DMA remapping unit.
struct RemappingRoot {
  uint64_t root_table = 0; // physical address, whole pages
  uint16_t source_id = 0;  // bus 15:8, device 7:3, function 2:0
};

// The tables of another machine's DMA remapping unit, in that machine's memory, in legacy mode: root and
// context entry, then up to four levels of second-level entries (Intel Virtualization Technology for Directed
// I/O, 3.4 and 3.7). Each access walks them, so that an unmap takes effect with the machine's store, even
// without an invalidation.
class RemappingTables final : public PageTables {
public:
  // `memory`: the machine's memory from physical address 0 on; addresses beyond it are not mapped.
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
