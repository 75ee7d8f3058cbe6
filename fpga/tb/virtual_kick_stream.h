#pragma once

#include "virtual_kick_surroundings.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace fpga_verbs::bench {

struct Stream {
  static constexpr uint32_t clocks = 1000;
  uint32_t started = 0; // in these clocks, once the first was
  uint32_t latency = 0; // clocks from a kick to its start, the first
};

// A kick in every clock, each finished when two more were started: how many are started on end.
template <class Rtl> Stream run_stream(Rtl& rtl, const std::vector<uint32_t>& live) {
  constexpr uint32_t before = 64;
  Stream stream;
  start_anew(rtl);
  rtl.kick_started_credit = 1;
  rtl.pinned = 1;
  std::deque<spec::FinishUnit> executing;
  uint32_t first_start = 0;
  for (uint32_t clock = 0; clock < Stream::clocks + before; ++clock) {
    spec::KickUnit kick;
    kick.set_queue_pair_number(live[clock % live.size()]);
    kick.set_underlying_function(clock % live.size() % functions);
    kick.set_physical_collect_buffer(clock % entries);
    put(rtl.kick_collected_unit, kick, 0);
    rtl.kick_collected = 1;
    rtl.finish = executing.size() > 2 ? 1 : 0;
    if (rtl.finish != 0)
      put(rtl.finish_unit, executing.front(), 0);
    rtl.clock = 0;
    rtl.eval();
    if (rtl.finish != 0)
      executing.pop_front();
    if (rtl.kick_started) {
      const auto unit = get<spec::KickUnit>(rtl.kick_started_unit);
      executing.push_back(finish_of(unit, true, true));
      if (first_start == 0)
        first_start = clock;
      stream.started += clock >= before;
    }
    rtl.clock = 1;
    rtl.eval();
  }
  stream.latency = first_start;
  rtl.kick_collected = rtl.finish = 0;
  return stream;
}

} // namespace fpga_verbs::bench
