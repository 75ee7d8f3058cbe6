#pragma once

#include "board/board_watch.h"
#include "board/observation.h"

#include <cstdint>
#include <memory>

namespace fpga_verbs::board {

// The view that a process hands out to the observers of a function: its registers, and rings that other
// processes can map. A view changes nothing of the board.
class ObserverView : public Observation {
public:
  virtual unsigned underlying_function() const = 0;

  // All ones if the function has no register there, or if the read would have a side effect.
  virtual uint32_t read32(unsigned bar, uint64_t offset) = 0;

  // False: not a writable inspect register.
  virtual bool write32(unsigned bar, uint64_t offset, uint32_t value) = 0;

  // As watch().
  virtual std::unique_ptr<BoardWatch> watch_board(WatchKind kind) = 0;
  std::unique_ptr<Watch> watch(WatchKind kind) final { return watch_board(kind); }
};

} // namespace fpga_verbs::board
