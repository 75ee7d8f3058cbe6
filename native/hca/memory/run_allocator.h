#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// Allocates runs of a power of two of units, each aligned to its size, in O(log n). Each node of a complete
// binary tree holds the largest free run below it, so free buddies merge implicitly.
class RunAllocator {
public:
  // `units`: a power of two.
  explicit RunAllocator(uint32_t units);

  // Allocates at least `units` (more than 0) and returns the first one; nothing: no free run is long enough.
  std::optional<uint32_t> allocate(uint32_t units);

  // Frees the run that begins at `first`.
  void free(uint32_t first);

  // Length of the longest free run; 0: none.
  uint32_t longest() const;
  uint32_t units_free() const { return units_free_; }
  uint32_t units() const { return units_; }

  void reset();

private:
  uint8_t joined(uint32_t node, uint32_t run) const; // what the children of a node of `run` units leave

  uint32_t units_;
  uint32_t units_free_ = 0;
  std::vector<uint8_t> longest_; // by node, root 1: log2 of the longest free run, plus 1; 0: none
};

} // namespace fpga_verbs::hca
