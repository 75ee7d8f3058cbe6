#pragma once

#include "link/link.h"

namespace fpga_verbs::hca {

// Arbitrates between the two lanes: responses go first, but a request may follow each response, so that
// neither lane delays the other by more than one packet. A blocked lane loses its turn: a response never
// waits for a resource of a request. One bit in RTL.
class LaneTurn {
public:
  // Lets one lane of `lanes`, a bit each, proceed: the one whose turn it is, otherwise the other. `go`
  // returns whether a packet of a lane went. False: none did.
  template <class Go> bool take(unsigned lanes, Go go) {
    for (link::Lane lane = first(); lanes != 0; lane = link::other(lane)) {
      const unsigned bit = 1u << static_cast<unsigned>(lane);
      if ((lanes & bit) != 0 && go(lane)) {
        went(lane);
        return true;
      }
      lanes &= ~bit;
    }
    return false;
  }

  // The lane whose turn it is; and the one of which a packet went.
#ifdef FPGA_VERBS_MUTANT_RESPONSES_STARVE_REQUESTS
  link::Lane first() const { return link::Lane::responses; }
#else
  link::Lane first() const { return next_; }
#endif
  void went(link::Lane lane) { next_ = link::other(lane); }

private:
  link::Lane next_ = link::Lane::responses;
};

} // namespace fpga_verbs::hca
