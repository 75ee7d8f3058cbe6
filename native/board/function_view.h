#pragma once

#include "board/bar_map.h"
#include "board/observer_view.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace fpga_verbs::board {

class EmulatedBoard;

// Reads the registers of a function while another process has it open. Each view has its own copy of the
// inspect registers, so several views and the function's driver do not disturb each other. A view writes no
// other register, and its reads have no side effects. The control function's view covers all functions, any
// other its own.
class FunctionView final : public ObserverView {
public:
  // For a function that the board has.
  FunctionView(std::shared_ptr<EmulatedBoard> board, unsigned underlying_function)
      : board_(std::move(board)), underlying_function_(underlying_function) {}

  unsigned underlying_function() const override { return underlying_function_; }

  uint32_t read32(unsigned bar, uint64_t offset) override;
  bool write32(unsigned bar, uint64_t offset, uint32_t value) override;
  std::unique_ptr<BoardWatch> watch_board(WatchKind kind) override;
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
