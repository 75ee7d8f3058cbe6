#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

// The shape of a linked list queue in its bench, its reset, and its sustained speed.
namespace fpga_verbs::bench {

constexpr uint32_t entries = ENTRIES;
constexpr uint32_t lists = LISTS;
constexpr uint32_t functions = UNDERLYING_FUNCTIONS;
constexpr bool content_addressed = CONTENT_ADDRESSED != 0;
constexpr bool ready_on_push = READY_ON_PUSH != 0;
constexpr uint32_t unit_bits = 144;

// linked_list_command_t
enum class LinkedListCommand : uint8_t {
  pop,
  discard,
  discard_not_ready,
  peek,
  reset_peek_pointer,
  reclaim,
  reclaim_step,
};

struct Unit {
  uint64_t low = 0;
  uint64_t high = 0;
};

// The number of values of a port that can carry numbers below `end`: the next power of two.
constexpr uint32_t carried(uint32_t end) {
  uint32_t values = 2;
  while (values < end)
    values *= 2;
  return values;
}

template <class Words> void put_unit(Words& words, const Unit& unit) {
  for (uint32_t word = 0; word < 4; ++word)
    words[word] = static_cast<uint32_t>((word < 2 ? unit.low : unit.high) >> word % 2 * 32);
}

template <class Rtl> void tick(Rtl& rtl) {
  rtl.clock = 0;
  rtl.eval();
  rtl.clock = 1;
  rtl.eval();
}

// Resets the block. It accepts nothing until its memories are cleared.
template <class Rtl> void start_anew(Rtl& rtl) {
  rtl.reset = 1;
  rtl.push = rtl.mark_ready = rtl.mark_not_ready = rtl.command = rtl.forward = rtl.scrub = rtl.inject_error =
      0;
  rtl.set_maximum = rtl.set_entry_credits = rtl.set_shared_entry_credits = rtl.reclaim_ready = 0;
  tick(rtl);
  rtl.reset = 0;
  do
    tick(rtl);
  while (rtl.clearing);
  for (uint32_t clock = 0; clock < 4; ++clock)
    tick(rtl);
}

struct Stream {
  static constexpr uint32_t clocks = 1000;
  uint32_t pushed = 0;
  uint32_t popped = 0;
};

// A push and a forward in every clock, on three lists or on one. Returns how many of each are executed, once
// enough data units are in flight.
template <class Rtl> Stream run_stream(Rtl& rtl, bool one_list) {
  constexpr uint32_t before = 256;
  Stream stream;
  start_anew(rtl);
  for (uint32_t clock = 0; clock < Stream::clocks + before; ++clock) {
    rtl.push = rtl.inbound_credits > 4;
    rtl.push_index = one_list ? 0 : clock % std::min(lists, 3U);
    rtl.mark_ready = rtl.pushed;
    rtl.mark_entry = rtl.pushed_entry;
    rtl.forward = clock > before / 2;
    tick(rtl);
    stream.pushed += clock >= before && rtl.pushed && rtl.pushed_result == 0;
    stream.popped += clock >= before && rtl.answered && rtl.answered_result == 0;
  }
  return stream;
}

} // namespace fpga_verbs::bench
