#pragma once

#include "hca/base/parameters.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// Allotment of a function's PCBs; what all functions together do not own, they share.
struct CollectAllotment {
  unsigned low = 0;    // the low level's
  unsigned high = 0;   // the high level's
  unsigned shared = 0; // for both levels

  bool operator==(const CollectAllotment&) const = default;
};

// How many pool PCBs each collect group may still take (US8589610, collect group table; US8484392, steps 89
// and 52).
//
// A VCB counts by its part of the BAR (low, high, shared: as CollectGroup low, high, function_shared) while
// it holds a PCB. A level's use fills its own allotment first, then what the function's levels share, then
// what all functions share. The payer follows from the counts alone, so a release repays what the function
// borrowed first, and no level pays for another.
class CollectGroupTable {
public:
  explicit CollectGroupTable(const HcaParameters& parameters);

  // Takes a PCB for a VCB of `part`, and tells the group that pays; nothing: send queue mode.
  std::optional<spec::CollectGroup> take(unsigned underlying_function, spec::CollectGroup part) {
    using spec::CollectGroup;
    assert(part != CollectGroup::device_shared);
    Function& function = functions_[underlying_function];
    CollectGroup payer = CollectGroup::device_shared;
    if (part != CollectGroup::function_shared && function.taken[index(part)] < function.total[index(part)])
      payer = part;
    else if (function.beyond_levels() < function.total[index(CollectGroup::function_shared)])
      payer = CollectGroup::function_shared;
    else if (shared_available() == 0)
      return std::nullopt;
    ++function.taken[index(part)];
    if (payer == CollectGroup::device_shared) { // the others do not lend
      ++function.borrowed;
      ++borrowed_;
    }
    return payer;
  }

  // Gives one back that was taken for `part`.
  void release(unsigned underlying_function, spec::CollectGroup part) {
    Function& function = functions_[underlying_function];
    assert(function.taken[index(part)] > 0);
    --function.taken[index(part)];
    settle(function);
  }

  // Changes an allotment. False, and nothing changed: all of them together would exceed the pool. Below what
  // is in use it takes effect as that drains.
  bool set_allotment(unsigned underlying_function, const CollectAllotment& allotment);
  CollectAllotment allotment(unsigned underlying_function) const;

  // Per group of a function: low, high or function_shared.
  unsigned total(unsigned underlying_function, spec::CollectGroup group) const;
  unsigned in_use(unsigned underlying_function, spec::CollectGroup group) const;
  unsigned available(unsigned underlying_function, spec::CollectGroup group) const;

  // Whether functions hold more of what all share than there is, after a division: then one of them may not
  // find what it owns.
  bool overdrawn() const { return borrowed_ > shared_total_; }
  // Whether a PCB that was taken for `part`, given back, is one less that the function borrows.
  bool repays(unsigned underlying_function, spec::CollectGroup part) const {
    const Function& function = functions_[underlying_function];
    return function.borrowed != 0 && (part == spec::CollectGroup::function_shared ||
                                      function.taken[index(part)] > function.total[index(part)]);
  }

  // PCBs that the function holds of those that all functions share.
  unsigned borrowed(unsigned underlying_function) const { return functions_[underlying_function].borrowed; }

  unsigned shared_total() const { return shared_total_; }
  unsigned shared_available() const { return shared_total_ > borrowed_ ? shared_total_ - borrowed_ : 0; }

  // PCBs taken for VCBs of `part`, of any payer.
  unsigned taken(unsigned underlying_function, spec::CollectGroup part) const;

  // For tests: the counts agree.
  bool verify() const;

private:
  static constexpr unsigned parts = 3; // low, high, shared: as in CollectGroup

  struct Function {
    std::array<unsigned, parts> total{};
    std::array<unsigned, parts> taken{};
    unsigned borrowed = 0;

    // Taken, and not covered by the allotment of a level.
    unsigned beyond_levels() const {
      const unsigned low = index(spec::CollectGroup::low);
      const unsigned high = index(spec::CollectGroup::high);
      return beyond(taken[low], total[low]) + beyond(taken[high], total[high]) +
             taken[index(spec::CollectGroup::function_shared)];
    }
  };

  static constexpr unsigned index(spec::CollectGroup group) { return static_cast<unsigned>(group); }
  static constexpr unsigned beyond(unsigned taken, unsigned total) {
    return taken > total ? taken - total : 0;
  }

  // After a change of `taken` or `total`: makes what a function borrows right again.
  void settle(Function& function) {
    borrowed_ -= function.borrowed;
    function.borrowed =
        beyond(function.beyond_levels(), function.total[index(spec::CollectGroup::function_shared)]);
    borrowed_ += function.borrowed;
  }

  unsigned pool_;
  unsigned shared_total_ = 0;
  unsigned borrowed_ = 0; // by all functions
  std::array<Function, spec::underlying_functions> functions_{};
};

} // namespace fpga_verbs::hca
