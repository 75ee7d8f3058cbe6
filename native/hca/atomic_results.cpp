#include "hca/atomic_results.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

constexpr uint32_t index_mask = (uint32_t{1} << spec::queue_pair_index_bits) - 1;

} // namespace

void AtomicResults::store(uint32_t queue_pair_number, uint32_t psn, uint64_t original_data) {
  std::unique_ptr<Ring>& ring = rings_[queue_pair_number & index_mask];
  if (!ring)
    ring = std::make_unique<Ring>();
  if (ring->queue_pair_number != queue_pair_number)
    *ring = {.queue_pair_number = queue_pair_number};
  ring->results[ring->stored++ % spec::read_atomic_maximum] = {.psn = psn, .original_data = original_data};
}

std::optional<uint64_t> AtomicResults::find(uint32_t queue_pair_number, uint32_t psn) const {
  const std::unique_ptr<Ring>& ring = rings_[queue_pair_number & index_mask];
  if (!ring || ring->queue_pair_number != queue_pair_number)
    return std::nullopt;
  const uint32_t held = std::min(ring->stored, spec::read_atomic_maximum);
  for (uint32_t age = 1; age <= held; ++age) {
    const Result& result = ring->results[(ring->stored - age) % spec::read_atomic_maximum];
    if (result.psn == psn)
      return result.original_data;
  }
  return std::nullopt;
}

} // namespace fpga_verbs::hca
