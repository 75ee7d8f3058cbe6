#pragma once

#include "virtual_kick_surroundings.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace fpga_verbs::bench {

struct Stream {
  static constexpr uint32_t clocks = 1000;
  uint32_t started = 0; // within these clocks, after the first start
  uint32_t latency = 0; // clocks from the first kick to its start
};

// A kick in every clock; a command is finished when two more have started. Measures how many start in
// succession.
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

// Whether each lane can have four commands, and credits for as many.
constexpr bool turns_can_be_seen =
    lanes > 2 && entries >= 4 * lanes&& EXECUTION_CREDITS_PER_LANE >= 4 && COMPLETION_CREDITS_PER_LANE >= 4;

// All lanes have commands and no credits. All credits return while commands of another queue pair are
// dropped, during which no lane starts a command; then the lanes must start commands in turn.
template <class Rtl> void run_turns(Rtl& rtl, const std::vector<uint32_t>& live) {
  start_anew(rtl);
  rtl.kick_started_credit = 1;
  rtl.pinned = 1;
  std::deque<spec::FinishUnit> executing;
  std::deque<uint32_t> started; // lanes, since the credits returned
  uint32_t returned = 0;        // clocks since the first credit returned
  uint32_t kicks = 0;
  for (uint32_t clock = 0; started.size() < lanes; ++clock) {
    spec::KickUnit kick;
    kick.set_queue_pair_number(live[kicks % live.size()]);
    kick.set_underlying_function(kicks % live.size() % functions);
    kick.set_physical_collect_buffer(kicks % entries);
    put(rtl.kick_collected_unit, kick, 0);
    rtl.kick_collected = clock < 20 * entries;
    const bool returns = clock >= 20 * entries + 64 && !executing.empty();
    rtl.drop = returns && returned == 0;
    rtl.drop_queue_pair_number = (1U << 24) - 1;
    rtl.finish = returns;
    if (returns)
      put(rtl.finish_unit, executing.front(), 0);
    rtl.clock = 0;
    rtl.eval();
    kicks += rtl.kick_collected && rtl.kick_collected_ready;
    if (returns) {
      expect({.clock = clock}, "credits taken while commands are dropped", rtl.finish_ready & 1, 1);
      executing.pop_front();
    }
    const auto begun = get<spec::KickUnit>(rtl.kick_started_unit);
    if (rtl.kick_started && begun.origin() != spec::KickOrigin::send_queue_mode && returned == 0) {
      spec::FinishUnit unit = finish_of(begun, true, true);
      unit.set_finished(0); // returns the credits without ending the command
      executing.push_back(unit);
    }
    returned += returns || returned != 0;
    // The credits of all lanes have returned, and each lane still has commands.
    if (rtl.starting && returned != 0) {
      expect({.clock = clock}, "credits that are not back", executing.size(), 0);
      started.push_back(rtl.starting_lane);
    }
    rtl.clock = 1;
    rtl.eval();
    if (clock > 100 * entries)
      differ({.clock = clock}, "starts of lanes that have credits again", started.size(), lanes);
  }
  uint64_t seen = 0;
  for (const uint32_t lane : started)
    seen |= uint64_t{1} << lane;
  expect({}, "lanes that had their turn", seen, all_lanes);
  rtl.kick_collected = rtl.finish = 0;
}

} // namespace fpga_verbs::bench
