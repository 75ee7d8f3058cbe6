// packet_parse beside the device model: first a valid packet of each opcode in each framing, then packets of
// all framings and opcodes, with and without a fault, with random pauses. It must return the result of
// wire::parse_packet for each: the reason to drop it, or its fields. Arguments: seed, clocks.
#include "Vpacket_parse.h"
#include "damaged_packets.h"
#include "parsed_packets.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <set>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vpacket_parse;

constexpr uint32_t beat_bytes = BEAT_BYTES;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    rtl_.reset = 1;
    rtl_.beat = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
      step();
    rtl_.reset = 0;
    every_opcode();
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 64 == 0) {
        push_ = std::array{10U, 50U, 100U, 100U}[random_.below(4)];
        is_cut_ = random_.once(12);
      }
      // The link changes while nothing is in flight.
      if (place_.clock % 2048 == 0) {
        come_to_rest();
        rtl_.is_infiniband = !rtl_.is_infiniband;
        step();
      }
      rtl_.beat = random_.percent(push_);
      if (rtl_.beat)
        put_beat();
      step();
    }
    come_to_rest();
    std::printf(
        "%llu packets in %llu clocks, %llu dropped, for %zu reasons, %llu tagged, %llu of InfiniBand, a "
        "verdict after %llu clocks at most\n",
        number(packets_), number(clocks_), number(dropped_), reasons_.size(), number(tagged_),
        number(infiniband_), number(latest_));
    std::printf("%zu opcodes in each of %u framings\n", opcodes_.size(), framings);
    return 0;
  }

private:
  struct Expected {
    ParsedByModel model;
    uint64_t ended = 0; // clock of its last beat
  };

  static constexpr uint32_t framings = 4;

  static unsigned long long number(uint64_t value) { return value; }

  // Each must be valid.
  void every_opcode() {
    for (uint32_t framing = 0; framing < framings; ++framing) {
      rtl_.is_infiniband = !wire::is_ethernet(static_cast<wire::PacketFraming>(framing));
      step();
      for (uint32_t number = 0; number < 256; ++number) {
        const auto opcode = static_cast<spec::PacketOpcode>(number);
        if (!spec::traits_of(opcode).is_known)
          continue;
        opcodes_.insert(opcode);
        do
          sending_ = some_packet(random_, 3 * beat_bytes);
        while (sending_.fields.opcode != opcode ||
               sending_.framing != static_cast<wire::PacketFraming>(framing));
        announce();
        expect(place_, "whole packets are right", 0, static_cast<uint64_t>(expected_.back().model.drop));
        while (!sending_.bytes.empty()) {
          rtl_.beat = 1;
          put_beat();
          step();
        }
      }
      come_to_rest();
    }
  }

  void come_to_rest() {
    rtl_.beat = 0;
    for (; !sending_.bytes.empty(); step()) {
      rtl_.beat = 1;
      put_beat();
    }
    rtl_.beat = 0;
    for (uint32_t clock = 0; clock < 64; ++clock)
      step();
    expect(place_, "packets that nothing is said of", expected_.size(), 0);
  }

  void begin_packet() {
    do
      sending_ = some_packet(random_, random_.once(8) ? spec::packet_payload_bytes : 3 * beat_bytes);
    while (wire::is_ethernet(sending_.framing) == (rtl_.is_infiniband != 0));
    tagged_ += sending_.is_tagged;
    infiniband_ += rtl_.is_infiniband;
    ++packets_;
    PacketDamage(random_, sending_).some();
    if (is_cut_) // one in each clock
      sending_.bytes.resize(std::min<size_t>(sending_.bytes.size(), beat_bytes));
    announce();
    dropped_ += expected_.back().model.drop != spec::PacketDrop::none;
    reasons_.insert(expected_.back().model.drop);
  }

  // The packet is sent from now on.
  void announce() {
    sent_ = 0;
    expected_.push_back({.model = parse(rtl_.is_infiniband != 0, sending_.bytes)});
  }

  void put_beat() {
    if (sending_.bytes.empty())
      begin_packet();
    const auto left = static_cast<uint32_t>(sending_.bytes.size()) - sent_;
    const uint32_t bytes = std::min(beat_bytes, left);
    const auto beat = some_beat<beat_bytes>(random_, std::span(sending_.bytes).subspan(sent_, bytes));
    std::memcpy(&rtl_.beat_tdata, beat.data(), beat_bytes);
    rtl_.beat_tkeep = keep_of(bytes);
    rtl_.beat_tlast = left <= beat_bytes;
    sent_ += bytes;
    if (left > beat_bytes)
      return;
    expected_.back().ended = now_;
    sending_ = {};
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    if (rtl_.parsed)
      compare();
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
  }

  void compare() {
    if (expected_.empty())
      differ(place_, "packets that something is said of", packets_ + 1, packets_);
    const Expected expected = expected_.front();
    expected_.pop_front();
    latest_ = std::max(latest_, now_ - expected.ended);
    expect(place_, "why it is dropped", rtl_.parsed_drop, static_cast<uint64_t>(expected.model.drop));
    if (expected.model.drop != spec::PacketDrop::none)
      return;
    expect(place_, "bytes of payload", rtl_.parsed_payload_bytes, expected.model.parsed.payload_bytes);
    compare_fields(place_, &rtl_.parsed_fields[0], expected.model);
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint64_t now_ = 0;
  uint32_t push_ = 100;
  bool is_cut_ = false;
  WirePacket sending_; // without bytes: none
  uint32_t sent_ = 0;
  std::deque<Expected> expected_;
  uint64_t packets_ = 0;
  uint64_t dropped_ = 0;
  uint64_t tagged_ = 0;
  uint64_t infiniband_ = 0;
  uint64_t latest_ = 0;
  std::set<spec::PacketDrop> reasons_;
  std::set<spec::PacketOpcode> opcodes_;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
