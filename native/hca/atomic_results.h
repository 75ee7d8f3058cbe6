#pragma once

#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// Results of the newest atomics of each queue pair, by PSN: a duplicate is answered with what the first one
// found, and executed once (InfiniBand volume 1, 9.4.5 and 9.7.5.1.4). A requester has at most
// read_atomic_maximum outstanding, so older ones cannot be asked for again.
//
// They lie on the device, in a ring for each queue pair that has executed one, made at its first: 16 B times
// read_atomic_maximum of it.
class AtomicResults {
public:
  explicit AtomicResults(uint32_t queue_pairs) : rings_(queue_pairs) {}

  void store(uint32_t queue_pair_number, uint32_t psn, uint64_t original_data);

  // Nothing: this queue pair has executed no such atomic, or too long ago.
  std::optional<uint64_t> find(uint32_t queue_pair_number, uint32_t psn) const;

private:
  struct Result {
    uint32_t psn = 0;
    uint64_t original_data = 0;
  };
  struct Ring {
    uint32_t queue_pair_number = 0;
    uint32_t stored = 0; // since the queue pair exists
    std::array<Result, spec::read_atomic_maximum> results{};
  };

  std::vector<std::unique_ptr<Ring>> rings_; // by index of the queue pair
};

} // namespace fpga_verbs::hca
