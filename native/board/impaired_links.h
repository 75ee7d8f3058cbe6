#pragma once

#include "board/impaired_link.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>

namespace fpga_verbs::board {

// The impairments that may stand before the links of a board's ports: the same rules at each, and random
// numbers of its own.
class ImpairedLinks {
public:
  using Links = std::array<link::Link*, spec::ports>;

  // `attached`: what the device is attached to, by port from now on: a link, or what stands before it; null:
  // nothing is there. It outlives this.
  ImpairedLinks(const Links& links, Links& attached, spec::LinkLayer link_layer, const hca::Clock& clock,
                uint64_t frequency, uint64_t seed, unsigned board_number);
  ImpairedLinks(const ImpairedLinks&) = delete;
  ImpairedLinks& operator=(const ImpairedLinks&) = delete;

  // A rule at every port; gives its number, from 1.
  unsigned add(const LinkImpairment& rule);
  // False: no such rule.
  bool remove(unsigned number);
  void clear();
  // A packet is there as if it had come to a port, from 1. False: nothing is attached to it.
  bool arrive(unsigned port, std::span<const uint8_t> packet);
  // Of all ports. None: no such rule.
  std::optional<LinkImpairmentCounters> counters(unsigned number) const;

private:
  std::array<std::optional<ImpairedLink>, spec::ports> ports_;
  std::set<unsigned> rules_; // their numbers
  unsigned last_number_ = 0;
};

} // namespace fpga_verbs::board
