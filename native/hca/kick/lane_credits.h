#pragma once

#include "hca/lists/credit_pool.h"

#include <algorithm>
#include <cstdint>

namespace fpga_verbs::hca {

// Credits of one kind, of one lane.
struct LaneCreditDivision {
  uint32_t own = 0;
  uint32_t shared_cap = 0; // most shared ones that it may hold

  bool operator==(const LaneCreditDivision&) const = default;
};

// Credits of one kind of all transmit virtual lanes (US8484392, execution and completion credits), at most 64
// lanes. Beside the pool it keeps a bit per lane, so that the lanes that can get a credit are found at once.
class LaneCredits {
public:
  LaneCredits(unsigned lanes, uint32_t own, uint32_t shared, uint32_t shared_cap)
      : pool_(lanes, own, shared, shared_cap) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      note(lane, CreditSource::own);
      note(lane, CreditSource::shared);
    }
  }

  // The lanes that can get a credit, a bit each.
  uint64_t lanes() const { return has_own_ | (shared_free() > 0 ? below_cap_ : 0); }

  // Takes a credit for one of lanes(), and tells where it came from.
  CreditSource take(unsigned lane) {
    const CreditSource source = pool_.take(lane);
    note(lane, source);
    return source;
  }

  // Takes a credit from where another has decided, whatever the division is now.
  void take_from(unsigned lane, CreditSource source) {
    pool_.hold(lane, source);
    note(lane, source);
  }

  void give_back(unsigned lane, CreditSource source) {
    pool_.give_back(lane, source);
    note(lane, source);
  }

  // Divides anew; what is held beyond it comes back first.
  void divide(unsigned lane, uint32_t own, uint32_t shared_cap) {
    pool_.set_own(lane, own);
    pool_.set_shared_cap(lane, shared_cap);
    note(lane, CreditSource::own);
    note(lane, CreditSource::shared);
  }
  void set_shared(uint32_t credits) { pool_.set_shared(credits); }

  // Credits that the lane could take one after the other now.
  uint32_t available(unsigned lane) const {
    const uint32_t below_cap =
        pool_.shared_cap(lane) - std::min(pool_.shared_cap(lane), pool_.shared_held(lane));
    return own_free(lane) + std::min(shared_free(), below_cap);
  }

  uint32_t own(unsigned lane) const { return pool_.own(lane); }
  uint32_t shared_cap(unsigned lane) const { return pool_.shared_cap(lane); }
  uint32_t shared() const { return pool_.shared(); }
  uint32_t own_free(unsigned lane) const {
    return pool_.own(lane) - std::min(pool_.own(lane), pool_.own_held(lane));
  }
  uint32_t shared_held(unsigned lane) const { return pool_.shared_held(lane); }
  uint32_t held(unsigned lane) const { return pool_.own_held(lane) + pool_.shared_held(lane); }
  uint32_t shared_free() const { return pool_.shared() - std::min(pool_.shared(), pool_.shared_held()); }

private:
  // Credits from this source have come or gone.
  void note(unsigned lane, CreditSource source) {
    const bool is_own = source == CreditSource::own;
    const bool is_left =
        is_own ? pool_.own_held(lane) < pool_.own(lane) : pool_.shared_held(lane) < pool_.shared_cap(lane);
    uint64_t& lanes = is_own ? has_own_ : below_cap_;
    lanes = (lanes & ~(uint64_t{1} << lane)) | uint64_t{is_left} << lane;
  }

  CreditPool pool_;
  uint64_t has_own_ = 0;   // lanes with a free credit of their own
  uint64_t below_cap_ = 0; // lanes that may hold another shared one
};

} // namespace fpga_verbs::hca
