#pragma once

#include "link/link.h"

namespace fpga_verbs::hca {

// The turn of the two lanes: responses go first, but behind each of them a request may, so that
// neither is delayed by more than one packet of the other. A lane that cannot go gives its turn up: a
// response never waits for what a request holds. One bit in RTL.
class LaneTurn {
public:
  // Lets one lane go: the one whose turn it is, else the other. `go` tells whether a packet of a lane went.
  // False: neither did.
  template <class Go> bool take(Go go) {
    const link::Lane first = next_;
    const link::Lane second = other(first);
#ifdef FPGA_VERBS_MUTANT_RESPONSES_STARVE_REQUESTS
    if (go(link::Lane::responses))
      return true;
#endif
    if (go(first))
      next_ = second;
    else if (go(second))
      next_ = first;
    else
      return false;
    return true;
  }

private:
  static constexpr link::Lane other(link::Lane lane) {
    return lane == link::Lane::responses ? link::Lane::requests : link::Lane::responses;
  }

  link::Lane next_ = link::Lane::responses;
};

} // namespace fpga_verbs::hca
