#pragma once

#include <cstddef>
#include <vector>

namespace fpga_verbs::board {

// Measures the floor of everything between two cores: two threads hand a cache line to and fro, and the
// calling one takes the time of each round trip. `cpu` and `other_cpu` are what the threads are pinned to,
// negative: nothing; the caller gets its affinity back. Nanoseconds each, `iterations` of them after as many
// unmeasured ones as a tenth.
std::vector<double> cache_line_round_trip(size_t iterations, int cpu, int other_cpu);

} // namespace fpga_verbs::board
