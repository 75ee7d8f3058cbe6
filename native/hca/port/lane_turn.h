#pragma once

#include "link/link.h"

namespace fpga_verbs::hca {

// Arbitrates between the two lanes: responses go first, but a request may follow each response, so that
// neither lane delays the other by more than one packet. A blocked lane loses its turn: a response never
// waits for a resource of a request. One bit in RTL.
class LaneTurn {
public:
  // Lets one lane proceed: the one whose turn it is, otherwise the other. `go` returns whether a packet of a
  // lane went. False: neither did.
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
