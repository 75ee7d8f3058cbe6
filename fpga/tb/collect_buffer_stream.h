#pragma once

#include "collect_buffer_commands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

namespace fpga_verbs::bench {

// Measures the clocks of a stream of commands of a header each, to one VCB after the other or all to the same
// one, with a beat offered in every clock and PCBs released at once. Beats count from the first accepted one.
struct Stream {
  static constexpr uint32_t beats = 1000;
  uint32_t clocks = 0; // in which the beats were accepted
  uint32_t kicks = 0;
  uint32_t without = 0;         // in send queue mode: a PCB is released later than the next command begins
  uint32_t least_latency = ~0U; // clocks from the completing beat to the kick
  uint32_t most_latency = 0;
};

// After a reset, without an offer.
template <class Rtl> void begin_stream(Rtl& rtl) {
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
}

// Ends a clock: answers the request for a queue pair, and releases the PCB of the kick.
template <class Rtl> void end_stream_clock(Rtl& rtl, const spec::QueuePairControl* control) {
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
}

// A command to VCB 0 with a repeated DWORD and a checksum, then one of a header to each other VCB, with a
// beat offered in every clock. Measures the clocks from the completing beat to the kick.
struct BesideSum {
  uint32_t summed = 0;
  uint32_t most_of_others = 0;
};

template <class Rtl> BesideSum run_beside_sum(Rtl& rtl, QueuePairs& queue_pairs) {
  constexpr uint32_t known = functions > 1 ? 1U << std::bit_width(functions - 1) : 2;
  constexpr uint32_t per_function = vcbs / functions;
  struct Offer {
    uint32_t vcb;
    uint32_t offset;
    std::array<uint8_t, beat_bytes> data;
    bool completes;
  };
  std::vector<Offer> offers;
  const auto offer_command = [&](uint32_t vcb, uint32_t length, bool repeats) {
    spec::CommandHeader header;
    const uint32_t number = functions + vcb / per_function;
    header.set_queue_pair_number(number);
    header.set_length(length);
    header.set_version(spec::command_version);
    header.set_quality_of_service_level(QueuePairs::level(number));
    header.set_checksum_enable(repeats);
    std::array<uint8_t, spec::command_bytes> bytes{};
    std::memcpy(bytes.data(), &header, sizeof(header));
    if (repeats)
      make_checksum(bytes, number, length);
    const auto offer_beat = [&](uint32_t at, bool completes) {
      Offer offer{.vcb = vcb, .offset = at, .data = {}, .completes = completes};
      std::memcpy(offer.data.data(), bytes.data() + at, beat_bytes);
      offers.push_back(offer);
    };
    const uint32_t end = hca::segments_needed(length) * spec::segment_bytes;
    for (uint32_t at = 0; at < end; at += beat_bytes) {
      if (repeats && at + beat_bytes >= end)
        offer_beat(at - beat_bytes, false);
      offer_beat(at, at + beat_bytes >= end);
    }
  };
  offer_command(0, spec::command_payload_bytes, true);
  for (uint32_t vcb = 1; vcb < vcbs; ++vcb)
    offer_command(vcb, 0, false);
  begin_stream(rtl);
  BesideSum result;
  std::array<uint32_t, vcbs> completed{};
  uint32_t addressed = 0;
  uint32_t taken = 0;
  uint32_t kicks = 0;
  for (uint32_t clock = 0; kicks < vcbs; ++clock) {
    rtl.awvalid = addressed < offers.size();
    if (rtl.awvalid) {
      rtl.awaddr = offers[addressed].vcb * page_bytes + offers[addressed].offset;
      rtl.awlen = 0;
      rtl.awsize = static_cast<uint8_t>(std::countr_zero(beat_bytes));
      rtl.awuser = static_cast<uint8_t>(known | offers[addressed].vcb / per_function);
    }
    rtl.wvalid = taken < offers.size();
    if (rtl.wvalid)
      std::memcpy(&rtl.wdata, offers[taken].data.data(), beat_bytes);
    rtl.wstrb = ~uint64_t{0} >> (64 - beat_bytes);
    rtl.wlast = 1;
    rtl.clock = 0;
    rtl.eval();
    const spec::QueuePairControl* const control =
        queue_pairs.find_control(rtl.find_underlying_function, rtl.find_queue_pair_number);
    if (rtl.wvalid && rtl.wready) {
      if (offers[taken].completes)
        completed[offers[taken].vcb] = clock;
      ++taken;
    }
    addressed += rtl.awvalid && rtl.awready;
    end_stream_clock(rtl, control);
    if (rtl.kick) {
      ++kicks;
      const uint32_t vcb = rtl.kick_virtual_collect_buffer;
      const uint32_t latency = clock + 1 - completed[vcb];
      if (vcb == 0)
        result.summed = latency;
      else
        result.most_of_others = std::max(result.most_of_others, latency);
    }
    if (clock > 10 * offers.size() + 200)
      differ({.clock = clock}, "kicks beside a sum", kicks, vcbs);
  }
  rtl.awvalid = rtl.wvalid = 0;
  // Seven clocks, two in which the command is set aside, and the one in which it enters again.
  if (result.most_of_others > 7 + 2 + 1)
    differ({}, "clocks to a kick beside a sum", result.most_of_others, 7 + 2 + 1);
  return result;
}

template <class Rtl> Stream run_stream(Rtl& rtl, QueuePairs& queue_pairs, bool same, bool checked) {
  constexpr uint32_t header_beats = spec::CommandHeader::bytes / beat_bytes;
  constexpr uint32_t known = functions > 1 ? 1U << std::bit_width(functions - 1) : 2;
  constexpr uint32_t per_function = vcbs / functions;
  Stream stream;
  std::deque<uint32_t> completed; // clocks in which completing beats were accepted
  uint32_t addressed = 0;         // bursts
  uint32_t taken = 0;             // beats
  uint32_t first = 0;
  const auto vcb = [same](uint32_t burst) { return same ? 0 : burst % vcbs; };
  begin_stream(rtl);
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
    end_stream_clock(rtl, control);
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
