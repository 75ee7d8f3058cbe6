#pragma once

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

// A data unit with an uncorrectable bit error, by what its queue knows apart from it.
struct LostDataUnit {
  uint16_t entry = 0;
  unsigned underlying_function = 0;
  uint32_t queue_pair_number = 0;
};

// Where a linked list queue reports the bit errors of its data memory.
class BitErrorPort {
public:
  virtual ~BitErrorPort() = default;
  // A single-bit error, each time that a read or the scrubber corrects it.
  virtual void corrected(unsigned underlying_function) = 0;
  // An uncorrectable error, once for each data unit, before a block sees the data unit.
  virtual void lost(const LostDataUnit& unit) = 0;
};

// A linked list queue as the scrubber sees it.
class ScrubbedQueue {
public:
  virtual ~ScrubbedQueue() = default;
  virtual void report_to(BitErrorPort& errors) = 0;
  virtual size_t entry_count() const = 0;
  // Checks the next entry, and corrects it in memory.
  virtual void scrub_next() = 0;

  // For faults: the data units that it holds, the function of one of them by its rank, and flipping a stored
  // bit of a word of that one (bit of 72: data, then check bits).
  virtual size_t held() const = 0;
  virtual unsigned owner_of_held(size_t rank) const = 0;
  // Whether it has a flipped bit.
  virtual bool is_flawed(size_t rank) const = 0;
  virtual size_t words() const = 0;
  virtual void flip_held(size_t rank, size_t word, size_t bit) = 0;
};

} // namespace fpga_verbs::hca
