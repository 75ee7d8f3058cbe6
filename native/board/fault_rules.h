#pragma once

#include "board/random.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace fpga_verbs::board {

enum class FaultKind : uint8_t {
  drop,
  tear,
  delay,
  reorder,
  read_all_ones,
  lose_interrupt,
  fault_dma,
  slow_dma,
  flip_bits,
};

// A fault, the accesses that it matches, and when it occurs.
struct FaultRule {
  FaultKind kind = FaultKind::drop;
  std::optional<unsigned> underlying_function; // none: of every function
  std::optional<unsigned> bar;                 // writes and reads; none: of every BAR
  uint64_t begin = 0; // what touches [begin, end): offsets in the BAR, DMA addresses or vectors
  uint64_t end = ~uint64_t{0};
  double probability = 1;    // that a match is chosen
  uint64_t nth = 0;          // the first chosen match that it happens to
  uint64_t count = 1;        // chosen matches that it happens to; 0: all from the nth on
  uint32_t double_words = 1; // tear: bit i: DWORD i arrives
  uint64_t transactions = 0; // delay, reorder: held until so many later ones have arrived; 0: not counted
  uint64_t ticks = 0;        // delay, reorder: held for so many clock ticks; 0: not timed. slow_dma: added
  uint32_t bits = 1;         // flip_bits: 1 or 2, of one word
};

// An access to match against the rules.
struct FaultSubject {
  unsigned underlying_function = 0;
  std::optional<unsigned> bar;
  uint64_t begin = 0;
  uint64_t bytes = 1;
};

// The faults of a board. Not thread-safe: under the board's lock.
class FaultRules {
public:
  explicit FaultRules(uint64_t seed) : random_(seed) {}

  // Gives the rule's number, from 1.
  unsigned add(const FaultRule& rule);
  // False: no such rule.
  bool remove(unsigned number);
  void clear();
  // How often the fault has occurred; none: no such rule.
  std::optional<uint64_t> happened(unsigned number) const;

  bool any() const { return !rules_.empty(); }
  bool has(FaultKind kind) const;
  Random& random() { return random_; }

  // Returns the first rule of the given kinds that takes effect on the subject now, or null. Every matching
  // rule of these kinds counts the match.
  const FaultRule* happens(std::initializer_list<FaultKind> kinds, const FaultSubject& subject);

private:
  struct Counted {
    unsigned number = 0;
    FaultRule rule;
    uint64_t matches = 0;
    uint64_t happened = 0;
  };

  std::vector<Counted> rules_;
  unsigned last_number_ = 0;
  Random random_;
};

} // namespace fpga_verbs::board
