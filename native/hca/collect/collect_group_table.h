#pragma once

#include "hca/base/parameters.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// A function's PCB allotment. All functions share the PCBs that none of them owns.
struct CollectAllotment {
  unsigned low = 0;    // the low level's
  unsigned high = 0;   // the high level's
  unsigned shared = 0; // for both levels

  bool operator==(const CollectAllotment&) const = default;
};

// The number of pool PCBs that each collect group may still take (US8589610, collect group table; US8484392,
// steps 89 and 52).
//
// A VCB with a PCB counts by its part of the BAR (low, high, shared: as CollectGroup low, high,
// function_shared). A level uses its own allotment first, then the PCBs that the function's levels share,
// then those that all functions share. The counts alone determine the payer, so a release first returns what
// the function borrowed, and no level pays for another.
class CollectGroupTable {
public:
  explicit CollectGroupTable(const HcaParameters& parameters);

  // Takes a PCB for a VCB of `part` and returns the group that pays; nothing: send queue mode.
  std::optional<spec::CollectGroup> take(unsigned underlying_function, spec::CollectGroup part) {
    using spec::CollectGroup;
    assert(part != CollectGroup::device_shared);
    Function& function = functions_[underlying_function];
    if (part != CollectGroup::function_shared && function.taken[index(part)] < function.total[index(part)]) {
      ++function.taken[index(part)];
      return part;
    }
    const bool lends = function.beyond_levels >= function.total[index(CollectGroup::function_shared)];
    if (lends && shared_available() == 0)
      return std::nullopt;
    ++function.taken[index(part)];
    ++function.beyond_levels;
    borrowed_ += lends ? 1 : 0;
    return lends ? CollectGroup::device_shared : CollectGroup::function_shared;
  }

  // Returns a PCB that was taken for `part`.
  void release(unsigned underlying_function, spec::CollectGroup part) {
    Function& function = functions_[underlying_function];
    assert(function.taken[index(part)] > 0);
    if (function.is_beyond_level(part)) {
      borrowed_ -= function.borrowed() != 0 ? 1 : 0;
      --function.beyond_levels;
    }
    --function.taken[index(part)];
  }

  // Changes an allotment. False, without a change: the sum of all would exceed the pool. An allotment below
  // current use takes effect as PCBs return.
  bool set_allotment(unsigned underlying_function, const CollectAllotment& allotment);
  CollectAllotment allotment(unsigned underlying_function) const;

  // Per group of a function: low, high or function_shared.
  unsigned total(unsigned underlying_function, spec::CollectGroup group) const;
  unsigned in_use(unsigned underlying_function, spec::CollectGroup group) const;
  unsigned available(unsigned underlying_function, spec::CollectGroup group) const;

  // Whether functions hold more shared PCBs than exist, after a change of the division; then a function may
  // not find the PCBs that it owns.
  bool overdrawn() const { return borrowed_ > shared_total_; }
  // Whether returning a PCB taken for `part` reduces the number that the function borrows.
  bool repays(unsigned underlying_function, spec::CollectGroup part) const {
    const Function& function = functions_[underlying_function];
    return function.borrowed() != 0 && function.is_beyond_level(part);
  }

  // Number of shared PCBs that the function holds.
  unsigned borrowed(unsigned underlying_function) const { return functions_[underlying_function].borrowed(); }

  unsigned shared_total() const { return shared_total_; }
  unsigned shared_available() const { return shared_total_ > borrowed_ ? shared_total_ - borrowed_ : 0; }

  // Number of PCBs taken for VCBs of `part`, for any payer.
  unsigned taken(unsigned underlying_function, spec::CollectGroup part) const;

  // For tests: the counts agree.
  bool verify() const;

private:
  static constexpr unsigned parts = 3; // low, high, shared: as in CollectGroup

  struct alignas(32) Function {
    std::array<unsigned, parts> total{};
    std::array<unsigned, parts> taken{};
    unsigned beyond_levels = 0; // PCBs taken beyond the allotments of the levels

    // Whether one of those taken for `part` is among them.
    bool is_beyond_level(spec::CollectGroup part) const {
      return part == spec::CollectGroup::function_shared || taken[index(part)] > total[index(part)];
    }
    unsigned borrowed() const {
      return beyond(beyond_levels, total[index(spec::CollectGroup::function_shared)]);
    }
    // As `taken` and `total` say.
    unsigned count_beyond_levels() const;
  };

  static constexpr unsigned index(spec::CollectGroup group) { return static_cast<unsigned>(group); }
  static constexpr unsigned beyond(unsigned taken, unsigned total) {
    return taken > total ? taken - total : 0;
  }

  unsigned pool_;
  unsigned shared_total_ = 0;
  unsigned borrowed_ = 0; // by all functions
  std::array<Function, spec::underlying_functions> functions_{};
};

} // namespace fpga_verbs::hca
