#pragma once

#include "board/board.h"
#include "driver/program_memory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace fpga_verbs::driver {

struct MappedRange;

// Memory of the program that is made shared with the process which holds the board: its pages get others
// under them, with the same content, that both processes have mapped. So what the device writes is in the
// program's own memory, and no copies are made afterwards. Thread-safe.
class SharedMemory final : public ProgramMemory {
public:
  // `function`: its memory is shared with its server.
  explicit SharedMemory(board::BoardFunction& function);

  int map(void* memory, size_t bytes, std::vector<DmaPiece>& pieces, uint64_t& mapping,
          std::string& failure) override;
  void unmap(uint64_t mapping) override;

private:
  // Memory of the server that lies under pages of the program.
  struct Segment {
    Segment(board::BoardFunction& owner, board::DmaMemory shared, uint64_t dma_address)
        : function(owner), memory(std::move(shared)), address(dma_address) {}
    ~Segment() { function.unmap_dma(address); }
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    board::BoardFunction& function;
    board::DmaMemory memory; // as the driver has it mapped
    uint64_t address;        // DMA address
  };
  using Segments = std::vector<std::shared_ptr<Segment>>;
  using Ranges = std::vector<MappedRange>;

  std::shared_ptr<Segment> segment_of(const MappedRange& range);
  int refuse(const Ranges& ranges, std::string& failure);
  int share(const MappedRange* first, const MappedRange* end, Segments& segments, std::string& failure);

  board::BoardFunction& function_;
  std::mutex mutex_;
  std::map<uint64_t, std::weak_ptr<Segment>> segments_; // by inode
  std::map<uint64_t, Segments> mappings_;               // by what unmap() takes
  uint64_t last_ = 0;
};

} // namespace fpga_verbs::driver
