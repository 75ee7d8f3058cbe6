#pragma once

#include "hca/base/wiring.h"
#include "hca/hca_blocks.h"

#include <optional>
#include <string_view>

namespace fpga_verbs::test {

// Calls `use(link)` with the link of this name. Returns false if there is none.
template <class Use> bool with_link(hca::HcaBlocks& blocks, std::string_view name, Use use) {
#define FPGA_VERBS_LINK(link, ...)                                                                           \
  if (name == #link) {                                                                                       \
    use(blocks.links.link);                                                                                  \
    return true;                                                                                             \
  }
  FPGA_VERBS_LINKS(FPGA_VERBS_LINK)
#undef FPGA_VERBS_LINK
  return false;
}

// A block that steps, and its bit in the mask of ready blocks.
struct NamedBlock {
  hca::Block& block;
  unsigned number = 0;
};

// The block of this name, if there is one.
inline std::optional<NamedBlock> block_of(hca::HcaBlocks& blocks, std::string_view name) {
  unsigned number = 0;
#define FPGA_VERBS_BLOCK(block, ...)                                                                         \
  if (name == #block)                                                                                        \
    return NamedBlock{blocks.block, number};                                                                 \
  ++number;
#define FPGA_VERBS_PART(...)
  FPGA_VERBS_BLOCKS(FPGA_VERBS_BLOCK, FPGA_VERBS_BLOCK, FPGA_VERBS_PART)
#undef FPGA_VERBS_BLOCK
#undef FPGA_VERBS_PART
  return std::nullopt;
}

} // namespace fpga_verbs::test
