#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fpga_verbs::driver {

// Memory of the program as a device reaches it: bytes at consecutive DMA addresses.
struct DmaPiece {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// How a device reaches memory of the program where its function does not map it. Thread-safe.
class ProgramMemory {
public:
  virtual ~ProgramMemory() = default;

  // Gives 0 and the pieces of the memory, in order, and what unmap() takes; or what a verb gives, and
  // `failure` says why.
  virtual int map(void* memory, size_t bytes, std::vector<DmaPiece>& pieces, uint64_t& mapping,
                  std::string& failure) = 0;
  virtual void unmap(uint64_t mapping) = 0;
};

// Appends a piece, or extends the last one by it.
inline void add(std::vector<DmaPiece>& pieces, uint64_t address, uint64_t bytes) {
  if (!pieces.empty() && pieces.back().address + pieces.back().bytes == address)
    pieces.back().bytes += bytes;
  else
    pieces.push_back({address, bytes});
}

} // namespace fpga_verbs::driver
