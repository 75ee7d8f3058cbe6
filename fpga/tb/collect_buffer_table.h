#pragma once

#include "collect_buffer_commands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace fpga_verbs::bench {

// The table of US8589610, row by row: each write, then mask and scoreboard.
template <class Rtl> void run_table(Rtl& rtl, QueuePairs& queue_pairs) {
  struct Row {
    uint32_t offset;
    uint32_t bytes;
    uint64_t mask;
    uint64_t scoreboard;
  };
  constexpr std::array rows{
      Row{0x10, 8, 0x0000000004, 0x0000000004}, Row{0x20, 32, 0x00000000f0, 0x00000000f4},
      Row{0x00, 8, 0xfffffffc01, 0xfffffffcf5}, Row{0x08, 8, 0x0000000002, 0xfffffffcf7},
      Row{0x18, 8, 0x0000000008, 0xfffffffcff}, Row{0x40, 16, 0x0000000300, 0xffffffffff}};
  bool kicked = false;
  const auto step = [&rtl, &queue_pairs, &kicked] {
    rtl.clock = 0;
    rtl.eval();
    const spec::QueuePairControl* const control =
        rtl.find ? queue_pairs.find_control(rtl.find_underlying_function, rtl.find_queue_pair_number)
                 : nullptr;
    rtl.clock = 1;
    rtl.eval();
    rtl.queue_pair_found = control != nullptr;
    rtl.queue_pair_quality_of_service_level =
        control == nullptr ? 0 : static_cast<uint8_t>(control->quality_of_service_level());
    rtl.eval();
    kicked = kicked || rtl.kick;
  };
  const auto expect_value = [](const char* what, uint64_t is, uint64_t wanted) {
    expect({}, what, is, wanted);
  };
  rtl.scoreboard_variant = static_cast<uint8_t>(scoreboard_variant);
  rtl.reset = 1;
  step();
  rtl.reset = 0;
  rtl.unit_credit = 1;
  rtl.bready = 1;
  while (!rtl.control_ready)
    step();
  std::array<uint8_t, spec::command_bytes> bytes{};
  spec::CommandHeader header;
  header.set_queue_pair_number(functions);
  header.set_length(16);
  header.set_version(spec::command_version);
  header.set_quality_of_service_level(QueuePairs::level(functions));
  std::memcpy(bytes.data(), &header, sizeof(header));
  uint64_t direct_mask = 0;
  for (const Row& row : rows) {
    kicked = false;
    for (uint32_t at = row.offset; at < row.offset + row.bytes; at += std::min(beat_bytes, row.bytes)) {
      rtl.awaddr = at;
      rtl.awlen = 0;
      rtl.awsize = static_cast<uint8_t>(std::countr_zero(beat_bytes));
      rtl.awuser = 0;
      rtl.awvalid = 1;
      rtl.wvalid = rtl.wlast = 1;
      const uint32_t size = std::min(beat_bytes, row.bytes);
      uint64_t strobes = size == 64 ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
      strobes <<= at % beat_bytes;
      rtl.wstrb = strobes;
      std::memcpy(reinterpret_cast<uint8_t*>(&rtl.wdata) + at % beat_bytes, bytes.data() + at, size);
      step();
      rtl.awvalid = 0;
      step();
      rtl.wvalid = 0;
      while (!rtl.beat_done)
        step();
    }
    rtl.inspect_page = 0;
    step();
    expect_value("scoreboard or mask of the table", rtl.inspect_scoreboard | rtl.inspect_scoreboard_mask,
                 row.scoreboard);
    if (row.offset == 0)
      direct_mask = 0xfffffffc00;
    if (scoreboard_variant == spec::ScoreboardVariant::direct) {
      expect_value("mask of the table", rtl.inspect_scoreboard_mask, direct_mask);
      expect_value("scoreboard of the table", rtl.inspect_scoreboard, row.scoreboard & ~direct_mask);
    } else {
      expect_value("scoreboard of the table", rtl.inspect_scoreboard, row.scoreboard);
      if (row.bytes <= beat_bytes)
        expect_value("mask of the table", rtl.inspect_scoreboard_mask, row.mask);
    }
    expect_value("kick of the table", kicked, row.scoreboard == 0xffffffffff);
  }
}

} // namespace fpga_verbs::bench
