#pragma once

#include "hca/base/parameters.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
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

// Which function and which part of its BAR a VCB belongs to (US8589610, underlying function table).
class UnderlyingFunctionTable {
public:
  static constexpr uint8_t no_function = 0xff;

  struct Owner {
    uint8_t underlying_function = no_function;
    spec::CollectGroup part = spec::CollectGroup::function_shared; // low, high or function_shared
  };

  // VCBs evenly divided, all of them for both levels.
  explicit UnderlyingFunctionTable(const HcaParameters& parameters);

  const Owner& owner(unsigned virtual_collect_buffer) const { return owners_[virtual_collect_buffer]; }
  const VirtualCollectBufferBar& bar(unsigned underlying_function) const {
    return bars_[underlying_function];
  }

  // Whether `bar` has its dividers in order, lies within the board and overlaps no other function's.
  bool allows(unsigned underlying_function, const VirtualCollectBufferBar& bar) const;

  // Puts an allowed BAR in the place of the function's.
  void set(unsigned underlying_function, const VirtualCollectBufferBar& bar);

private:
  std::array<VirtualCollectBufferBar, spec::underlying_functions> bars_{};
  std::vector<Owner> owners_; // by VCB
};

} // namespace fpga_verbs::hca
