#pragma once

#include "link/link.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::board {

// An impairment of packets on the way to a port, and the packets that it matches. The first matching rule
// applies to a packet.
struct LinkImpairment {
  std::optional<unsigned> from_board;        // number of the board that it comes from; none: any
  std::optional<uint32_t> queue_pair;        // that it is for; none: any
  std::optional<uint32_t> source_queue_pair; // of a datagram: that it comes from; none: any
  std::optional<link::Lane> lane;            // none: both
  uint64_t nth = 0;                          // the first match that the rule deals with
  uint64_t count = 0;                        // matches that it deals with; 0: all from the nth on

  // Probabilities, 0 to 1, for each packet.
  double loss = 0;
  double duplication = 0;
  double corruption = 0; // of one bit, anywhere in it
  double reordering = 0; // later ones overtake it

  uint64_t delay = 0;            // clock ticks
  uint64_t reorder_delay = 4096; // clock ticks by which one that is overtaken comes later
  uint64_t rate = 0;             // bits a second; 0: as they come
  bool operator==(const LinkImpairment&) const = default;
};

// How often each effect has occurred.
struct LinkImpairmentCounters {
  uint64_t packets = 0; // that the rule dealt with
  uint64_t lost = 0;
  uint64_t duplicated = 0;
  uint64_t corrupted = 0;
  uint64_t reordered = 0;
};

} // namespace fpga_verbs::board
