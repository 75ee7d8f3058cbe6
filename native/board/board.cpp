#include "board/board.h"

namespace fpga_verbs::board {

DmaMemory BoardFunction::allocate_dma(size_t bytes, uint64_t& address, std::string& failure) {
  DmaMemory memory = DmaMemory::allocate(bytes);
  if (!memory) {
    failure = "no memory is left";
    return memory;
  }
  const std::optional<uint64_t> mapped = map_dma(memory.data(), memory.bytes(), DmaRights::read_write);
  if (!mapped) {
    failure = "no DMA address is left";
    return {};
  }
  address = *mapped;
  return memory;
}

} // namespace fpga_verbs::board
