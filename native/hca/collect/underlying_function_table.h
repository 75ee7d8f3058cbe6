#pragma once

#include "hca/base/parameters.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// Base and count of a function's VCBs, and the dividers of its sub-BAR, counted from the base (US8484392,
// 57): [0, low) belongs to the low level, [low, high) to both, [high, count) to the high level.
struct VirtualCollectBufferBar {
  unsigned base = 0;
  unsigned count = 0;
  unsigned low = 0;
  unsigned high = 0;

  bool operator==(const VirtualCollectBufferBar&) const = default;
  bool contains(unsigned buffer) const { return buffer >= base && buffer - base < count; }
};

// Maps a VCB to its function and its part of the BAR (US8589610, underlying function table).
class UnderlyingFunctionTable {
public:
  static constexpr uint8_t no_function = 0xff;

  struct Owner {
    uint8_t underlying_function = no_function;
    spec::CollectGroup part = spec::CollectGroup::function_shared; // low, high or function_shared
  };

  // Divides the VCBs evenly, all of them for both levels.
  explicit UnderlyingFunctionTable(const HcaParameters& parameters);

  const Owner& owner(unsigned virtual_collect_buffer) const { return owners_[virtual_collect_buffer]; }
  const VirtualCollectBufferBar& bar(unsigned underlying_function) const {
    return bars_[underlying_function];
  }

  // Whether `bar` has its dividers in order, is within the board and overlaps no other function's.
  bool allows(unsigned underlying_function, const VirtualCollectBufferBar& bar) const;

  // Replaces a function's BAR by an allowed one.
  void set(unsigned underlying_function, const VirtualCollectBufferBar& bar);

  // Replaces a function's BAR if the new one is allowed and `is_closed(VCB)` holds for those that it adds or
  // removes; otherwise false, without a change.
  template <class IsClosed>
  bool change(unsigned underlying_function, const VirtualCollectBufferBar& bar, IsClosed is_closed) {
    if (!allows(underlying_function, bar))
      return false;
    const VirtualCollectBufferBar& old = bars_[underlying_function];
    for (unsigned buffer = 0; buffer < owners_.size(); ++buffer)
      if (old.contains(buffer) != bar.contains(buffer) && !is_closed(buffer))
        return false;
    set(underlying_function, bar);
    return true;
  }

  // Sets all BARs at once, which must be consistent: calls `close(VCB)` before a VCB changes owner and
  // `open(VCB)` for the new owner.
  template <class Close, class Open>
  void change_all(const std::array<VirtualCollectBufferBar, spec::underlying_functions>& bars, Close close,
                  Open open) {
    const std::array<VirtualCollectBufferBar, spec::underlying_functions> before = bars_;
    const auto moves = [&](unsigned buffer, size_t function) {
      return before[function].contains(buffer) != bars[function].contains(buffer);
    };
    for (size_t function = 0; function < bars.size(); ++function)
      for (unsigned buffer = 0; buffer < owners_.size(); ++buffer)
        if (moves(buffer, function))
          close(buffer);
    // Functions that lose VCBs release them before others take them.
    for (unsigned function = 0; function < bars.size(); ++function)
      if (before[function] != bars[function])
        set(function, {});
    for (unsigned function = 0; function < bars.size(); ++function) {
      if (before[function] == bars[function])
        continue;
      assert(allows(function, bars[function]));
      set(function, bars[function]);
      for (unsigned offset = 0; offset < bars[function].count; ++offset)
        if (moves(bars[function].base + offset, function))
          open(bars[function].base + offset);
    }
  }

private:
  std::array<VirtualCollectBufferBar, spec::underlying_functions> bars_{};
  std::vector<Owner> owners_; // by VCB
};

} // namespace fpga_verbs::hca
