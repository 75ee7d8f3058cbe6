#pragma once

#include <cstddef>
#include <vector>

namespace fpga_verbs::board {

// Measures the lower bound of any communication between two cores: two threads pass a cache line back and
// forth, and the caller times each round trip. `cpu` and `other_cpu` pin the threads; negative: not pinned.
// The caller's affinity is restored. Returns nanoseconds of `iterations` round trips, after a tenth as many
// warm-up ones.
std::vector<double> cache_line_round_trip(size_t iterations, int cpu, int other_cpu);

} // namespace fpga_verbs::board
