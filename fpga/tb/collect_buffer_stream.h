#pragma once

#include "collect_buffer_commands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>

namespace fpga_verbs::bench {

// What a stream of commands takes, each of a header alone and to the next VCB, or all to the same, with a
// beat offered in every clock and PCBs given back at once. Beats count from the first that is taken.
struct Stream {
  static constexpr uint32_t beats = 1000;
  uint32_t clocks = 0; // in which the beats were taken
  uint32_t kicks = 0;
  uint32_t without = 0;         // in send queue mode: a PCB comes back later than the next command
  uint32_t least_latency = ~0U; // clocks from the completing beat to the kick
  uint32_t most_latency = 0;
};

template <class Rtl> Stream run_stream(Rtl& rtl, QueuePairs& queue_pairs, bool same, bool checked) {
  constexpr uint32_t header_beats = spec::CommandHeader::bytes / beat_bytes;
  constexpr uint32_t known = functions > 1 ? 1U << std::bit_width(functions - 1) : 2;
  constexpr uint32_t per_function = vcbs / functions;
  Stream stream;
  std::deque<uint32_t> completed; // clocks in which completing beats were taken
  uint32_t addressed = 0;         // bursts
  uint32_t taken = 0;             // beats
  uint32_t first = 0;
  const auto vcb = [same](uint32_t burst) { return same ? 0 : burst % vcbs; };
  rtl.reset = 1;
  rtl.unit_credit = rtl.bready = 1;
  rtl.awvalid = rtl.wvalid = rtl.release_buffer = rtl.control = 0;
  for (bool first_clock = true; first_clock || !rtl.control_ready; first_clock = false) {
    rtl.clock = 0;
    rtl.eval();
    rtl.clock = 1;
    rtl.eval();
    rtl.reset = 0;
    rtl.eval();
  }
  for (uint32_t clock = 0; taken < Stream::beats || !completed.empty(); ++clock) {
    const uint32_t function = vcb(addressed) / per_function;
    rtl.awvalid = addressed < Stream::beats / header_beats;
    rtl.awaddr = vcb(addressed) * page_bytes;
    rtl.awlen = header_beats - 1;
    rtl.awsize = static_cast<uint8_t>(std::countr_zero(beat_bytes));
    rtl.awuser = static_cast<uint8_t>(known | function);
    spec::CommandHeader header;
    const uint32_t number = functions + vcb(taken / header_beats) / per_function;
    header.set_queue_pair_number(number);
    header.set_version(spec::command_version);
    header.set_quality_of_service_level(QueuePairs::level(number));
    header.set_checksum_enable(checked);
    std::array<uint8_t, spec::command_bytes> bytes{};
    std::memcpy(bytes.data(), &header, sizeof(header));
    if (checked)
      make_checksum(bytes, number, 0);
    const uint32_t beat = taken % header_beats;
    std::memcpy(&rtl.wdata, bytes.data() + beat * beat_bytes, beat_bytes);
    rtl.wstrb = ~uint64_t{0} >> (64 - beat_bytes);
    rtl.wlast = beat == header_beats - 1;
    rtl.wvalid = taken < Stream::beats;
    rtl.clock = 0;
    rtl.eval();
    const spec::QueuePairControl* const control =
        queue_pairs.find_control(rtl.find_underlying_function, rtl.find_queue_pair_number);
    if (rtl.awvalid && rtl.awready)
      ++addressed;
    if (rtl.wvalid && rtl.wready) {
      first = taken == 0 ? clock : first;
      stream.clocks = clock - first + 1;
      ++taken;
      if (rtl.wlast)
        completed.push_back(clock);
    }
    rtl.clock = 1;
    rtl.eval();
    rtl.queue_pair_found = control != nullptr;
    rtl.queue_pair_quality_of_service_level =
        control == nullptr ? 0 : static_cast<uint8_t>(control->quality_of_service_level());
    rtl.queue_pair_checksum_secret = control == nullptr ? 0 : control->checksum_secret();
    rtl.release_buffer = rtl.kick;
    if (rtl.kick)
      rtl.release_physical_collect_buffer =
          static_cast<uint8_t>(spec_unit<spec::KickUnit>(rtl.kick_unit).physical_collect_buffer());
    if (rtl.kick || rtl.send_queue_mode_kick) {
      if (completed.empty())
        differ({.clock = clock}, "kicks of a stream", stream.kicks + stream.without,
               stream.kicks + stream.without - 1);
      const uint32_t latency = clock + 1 - completed.front();
      completed.pop_front();
      ++(rtl.kick ? stream.kicks : stream.without);
      stream.least_latency = std::min(stream.least_latency, latency);
      stream.most_latency = std::max(stream.most_latency, latency);
    }
    if (clock > 10 * Stream::beats)
      differ({.clock = clock}, "beats of a stream", taken, Stream::beats);
  }
  return stream;
}

} // namespace fpga_verbs::bench
