#pragma once

#include "board/impaired_link.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>

namespace fpga_verbs::board {

// The impairments of all links of a board: the same rules at each port, with separate random numbers.
class ImpairedLinks {
public:
  using Links = std::array<link::Link*, spec::ports>;

  // `attached`: the link that each port of the device uses from now on: the real link, or the impaired one in
  // front of it; null: none. It outlives this object.
  ImpairedLinks(const Links& links, Links& attached, spec::LinkLayer link_layer, const hca::Clock& clock,
                uint64_t frequency, uint64_t seed, unsigned board_number);
  ImpairedLinks(const ImpairedLinks&) = delete;
  ImpairedLinks& operator=(const ImpairedLinks&) = delete;

  // Adds a rule at every port; returns its number, from 1.
  unsigned add(const LinkImpairment& rule);
  // False: no such rule.
  bool remove(unsigned number);
  void clear();
  // Injects a packet into a port, from 1. False: the port has no link.
  bool arrive(unsigned port, std::span<const uint8_t> packet);
  // Counters of a rule over all ports. None: no such rule.
  std::optional<LinkImpairmentCounters> counters(unsigned number) const;

private:
  std::array<std::optional<ImpairedLink>, spec::ports> ports_;
  std::set<unsigned> rules_; // their numbers
  unsigned last_number_ = 0;
};

} // namespace fpga_verbs::board
