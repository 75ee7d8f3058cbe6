#pragma once

#include "hca/hca_blocks.h"

#include <algorithm>
#include <cstdint>

// The turns of the blocks, compiled into the functions that run the device.
namespace fpga_verbs::hca {

#define FPGA_VERBS_NONE(...)

// Bit of each stepped block in the mask of ready blocks, and its index among them.
#define FPGA_VERBS_NUMBER(name, ...) name##_number,
enum BlockNumber : unsigned {
  FPGA_VERBS_BLOCKS(FPGA_VERBS_NUMBER, FPGA_VERBS_NUMBER, FPGA_VERBS_NONE) block_count
};
#undef FPGA_VERBS_NUMBER
static_assert(block_count < 63); // as many as a mask of ready blocks takes

// Calls `visit(name, block)` for each block and part that has the operation.
template <class Blocks, class Visit>
[[gnu::always_inline]] inline void for_each_block(Blocks& blocks, Visit visit) {
#define FPGA_VERBS_VISIT(name, ...) visit(blocks.name, name##_number);
#define FPGA_VERBS_VISIT_PART(name, ...) visit(blocks.name, block_count);
  FPGA_VERBS_BLOCKS(FPGA_VERBS_VISIT, FPGA_VERBS_VISIT, FPGA_VERBS_VISIT_PART)
#undef FPGA_VERBS_VISIT
#undef FPGA_VERBS_VISIT_PART
}

inline unsigned HcaBlocks::run(unsigned limit) {
  unsigned left = limit;
  for (;;) {
    while (ready.any() && left != 0)
      take_turn(ready.next(), left);
    if (left == 0 || !scrubber.has_work()) [[likely]]
      return limit - left;
    scrubber.step(); // may wake a block
    --left;
  }
}

// By number and not through a table of blocks: the compiler knows the type of the block and calls it
// directly.
inline void HcaBlocks::take_turn(unsigned number, unsigned& left) {
  switch (number) {
#define FPGA_VERBS_TURN(name, ...)                                                                           \
  case name##_number:                                                                                        \
    return turn_of<name##_number>(name, left);
    FPGA_VERBS_BLOCKS(FPGA_VERBS_TURN, FPGA_VERBS_TURN, FPGA_VERBS_NONE)
#undef FPGA_VERBS_TURN
#undef FPGA_VERBS_NONE
  default:
    __builtin_unreachable(); // blocks alone are awake
  }
}

template <unsigned number, class Block> inline void HcaBlocks::turn_of(Block& block, unsigned& left) {
  if (!step_of<number>(block, left)) [[likely]]
    return;
  // A block with more work continues for as many steps, while its code and data are in the caches.
  constexpr unsigned most_steps_of_a_turn = 16;
  for (unsigned done = 1; done < most_steps_of_a_turn && left != 0; ++done)
    if (!step_of<number>(block, left))
      return;
  ready.wake(number);
}

// Whether the block has more work.
template <unsigned number, class Block> inline bool HcaBlocks::step_of(Block& block, unsigned& left) {
  // Marked asleep before it works, so that its own work can wake it.
  ready.sleep(number);
  --left;
  return block.step() || ready.is_awake(number);
}

inline uint64_t HcaBlocks::next_deadline() const {
  uint64_t earliest = ~uint64_t{0};
  for_each_block(*this, [&earliest](const auto& block, unsigned) {
    if constexpr (requires { block.next_deadline(); })
      earliest = std::min(earliest, block.next_deadline());
  });
  return earliest;
}

} // namespace fpga_verbs::hca
