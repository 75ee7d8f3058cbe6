#pragma once

#include "board/bar_map.h"
#include "board/observation.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace fpga_verbs::board {

class BoardWatch;
class EmulatedBoard;

// Looks at the registers of a function beside the process that has it open. Each view turns the
// inspect registers for itself, so that several views, and the function's driver, do not disturb each other;
// nothing else can be written, and what a read would change stays as it is. The control function's view is
// handed out what exists and happens of all functions, another one's its own.
class FunctionView final : public Observation {
public:
  // Of a function that the board has.
  FunctionView(std::shared_ptr<EmulatedBoard> board, unsigned underlying_function)
      : board_(std::move(board)), underlying_function_(underlying_function) {}

  unsigned underlying_function() const { return underlying_function_; }

  // All ones where the function has nothing, or where reading would change something.
  uint32_t read32(unsigned bar, uint64_t offset);

  // False: it is no inspect register that can be written.
  bool write32(unsigned bar, uint64_t offset, uint32_t value);

  std::unique_ptr<BoardWatch> watch_board(WatchKind kind);

  std::unique_ptr<Watch> watch(WatchKind kind) override;
  void access(unsigned bar, std::span<RegisterAccess> accesses) override;
  uint32_t queue_pairs(uint32_t from, std::vector<hca::QueuePairFacts>& found) override;
  uint32_t regions(uint32_t from, std::vector<hca::RegionFacts>& found) override;

private:
  // An inspect register that can be written, in the function's page of a region, and what this view wrote.
  struct Inspected {
    spec::RegionType region = spec::RegionType::none;
    uint32_t offset = 0;
    uint32_t value = 0;
  };
  static constexpr size_t most_inspected = 3;

  hca::Inspection inspection(uint32_t from) const;

  std::shared_ptr<EmulatedBoard> board_;
  unsigned underlying_function_;
  std::array<Inspected, most_inspected> inspected_{};
  size_t inspected_count_ = 0;
};

} // namespace fpga_verbs::board
