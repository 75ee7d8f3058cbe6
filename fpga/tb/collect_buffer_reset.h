#pragma once

#include "collect_buffer_commands.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace fpga_verbs::bench {

// A reset of one clock while collect_buffer settles a division of PCBs, at each clock of the settling. After
// the reset no control command and no beat ends, because none was given since, and no VCB collects. Returns
// the number of resets; 0: with these sizes no function can hold more PCBs than a division leaves it.
template <class Rtl> class ResetWhileSettling {
public:
  explicit ResetWhileSettling(Rtl& rtl) : rtl_(rtl) {}

  uint32_t run() {
    if (functions < 2 || vcbs / functions <= each || shared == 0)
      return 0;
    uint32_t resets = 0;
    for (uint32_t clocks = 1;; ++clocks) {
      reset();
      overdraw();
      if (settles_within(clocks))
        return resets;
      reset();
      for (uint32_t after = 0; after < 2 * vcbs; ++after) {
        rtl_.inspect_page = after % vcbs;
        step();
        expect({}, "control command without a request", rtl_.control_done, 0);
        expect({}, "beat without a write", rtl_.beat_done, 0);
        expect({}, "VCB state after a reset", rtl_.inspect_state,
               static_cast<uint64_t>(spec::VirtualCollectBufferState::free));
      }
      ++resets;
    }
  }

private:
  static constexpr uint32_t each = std::min(4U, pcbs / functions);
  static constexpr uint32_t shared = pcbs - each * functions;

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    rtl_.clock = 1;
    rtl_.eval();
  }

  void reset() {
    rtl_.reset = 1;
    rtl_.unit_credit = rtl_.bready = 1;
    rtl_.awvalid = rtl_.wvalid = rtl_.release_buffer = rtl_.control = 0;
    step();
    rtl_.reset = 0;
    while (!rtl_.control_ready) {
      step();
      expect({}, "control command that ends during a reset", rtl_.control_done, 0);
    }
  }

  // Function 0 starts commands with its own PCBs and the shared ones; then function 1 owns the shared ones.
  void overdraw() {
    for (uint32_t vcb = 0; vcb < vcbs / functions; ++vcb) {
      rtl_.awaddr = vcb * page_bytes + 64;
      rtl_.awlen = 0;
      rtl_.awsize = static_cast<uint8_t>(std::countr_zero(beat_bytes));
      rtl_.awuser = 0;
      rtl_.wstrb = 0xff;
      rtl_.awvalid = rtl_.wvalid = rtl_.wlast = 1;
      step();
      rtl_.awvalid = 0;
      step();
      rtl_.wvalid = 0;
      while (!rtl_.beat_done)
        step();
    }
    rtl_.set_underlying_function = 1;
    rtl_.set_allotment_low = rtl_.set_allotment_high = 0;
    rtl_.set_allotment_shared = each + shared;
    step();
    step();
    expect({}, "allotment allowed", rtl_.allotment_allowed, 1);
    rtl_.set_allotment = 1;
    step();
    rtl_.set_allotment = 0;
  }

  // Whether the division has settled after these clocks.
  bool settles_within(uint32_t clocks) {
    rtl_.control = 1;
    rtl_.control_command = static_cast<uint8_t>(spec::CollectBufferControl::settle_division);
    rtl_.control_page = 0;
    for (uint32_t clock = 0; clock < clocks; ++clock) {
      step();
      rtl_.control = 0;
      if (rtl_.control_done)
        return true;
    }
    return false;
  }

  Rtl& rtl_;
};

} // namespace fpga_verbs::bench
