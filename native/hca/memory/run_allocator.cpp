#include "hca/memory/run_allocator.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace fpga_verbs::hca {

namespace {

// Length of a run from the content of a node.
constexpr uint32_t length(uint8_t longest) { return longest == 0 ? 0 : uint32_t{1} << (longest - 1); }

constexpr uint8_t as_longest(uint32_t length) { return static_cast<uint8_t>(std::bit_width(length)); }

} // namespace

RunAllocator::RunAllocator(uint32_t units) : units_(units), longest_(2 * size_t{units}) {
  assert(std::has_single_bit(units));
  reset();
}

void RunAllocator::reset() {
  units_free_ = units_;
  for (uint32_t node = 1; node < 2 * units_; ++node)
    longest_[node] = as_longest(units_ >> (std::bit_width(node) - 1));
}

uint32_t RunAllocator::longest() const { return length(longest_[1]); }

uint8_t RunAllocator::joined(uint32_t node, uint32_t run) const {
  const uint8_t left = longest_[2 * node];
  const uint8_t right = longest_[2 * node + 1];
  return length(left) == run / 2 && length(right) == run / 2 ? as_longest(run) : std::max(left, right);
}

std::optional<uint32_t> RunAllocator::allocate(uint32_t units) {
  const uint32_t wanted = std::bit_ceil(units);
  if (units == 0 || wanted > longest())
    return std::nullopt;
  // Descends to a node of the requested length, by the child with the tightest fit.
  uint32_t node = 1;
  uint32_t run = units_;
  for (; run > wanted; run /= 2) {
    const uint32_t left = length(longest_[2 * node]);
    const uint32_t right = length(longest_[2 * node + 1]);
    node = left >= wanted && (right < wanted || left <= right) ? 2 * node : 2 * node + 1;
  }
  const uint32_t first = node * run - units_;
  longest_[node] = 0;
  units_free_ -= run;
  for (node /= 2, run *= 2; node != 0; node /= 2, run *= 2)
    longest_[node] = joined(node, run);
  return first;
}

void RunAllocator::free(uint32_t first) {
  // The node of the run is the lowest one above its first unit that has nothing free.
  uint32_t node = first + units_;
  uint32_t run = 1;
  for (; longest_[node] != 0; node /= 2, run *= 2)
    assert(node > 1);
  assert(first % run == 0);
  longest_[node] = as_longest(run);
  units_free_ += run;
  for (node /= 2, run *= 2; node != 0; node /= 2, run *= 2)
    longest_[node] = joined(node, run);
}

} // namespace fpga_verbs::hca
