// icrc_check beside the device model: packets of all framings and opcodes of the model, and some that end at
// any byte, pass unchanged or with inverted bits, with random pauses. Each verdict must be the model's.
// Arguments: seed, clocks.
#include "Vicrc_check.h"
#include "wire_packets.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vicrc_check;

constexpr uint32_t beat_bytes = BEAT_BYTES;
constexpr uint32_t clocks_to_verdict = 6 + std::countr_zero(beat_bytes);

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    rtl_.reset = 1;
    rtl_.beat = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
      step();
    rtl_.reset = 0;
    for (place_.clock = 0; place_.clock < clocks_ || !expected_.empty(); ++place_.clock) {
      if (place_.clock % 64 == 0)
        push_ = std::array{10U, 50U, 100U}[random_.below(3)];
      rtl_.beat = (place_.clock < clocks_ || !sending_.bytes.empty()) && random_.percent(push_);
      if (rtl_.beat)
        put_beat();
      step();
    }
    std::printf("%llu packets in %llu clocks, %llu damaged, %llu of these where nothing is covered\n",
                number(packets_), number(clocks_), number(damaged_), number(uncovered_));
    return 0;
  }

private:
  struct Verdict {
    uint64_t clock = 0;
    bool matches = false;
  };

  static unsigned long long number(uint64_t value) { return value; }

  void begin_packet() {
    sending_ = random_.once(3)
                   ? some_unpadded_packet(random_, 300)
                   : some_packet(random_, random_.once(8) ? spec::packet_payload_bytes : 3 * beat_bytes);
    sent_ = 0;
    ++packets_;
    const bool is_damaged = random_.once(2);
    if (is_damaged) {
      // Headers are a small part of the bytes, and each of their bits matters.
      const uint32_t end = random_.once(2) ? sending_.payload : static_cast<uint32_t>(sending_.bytes.size());
      sending_.bytes[random_.below(end)] ^= static_cast<uint8_t>(1U << random_.below(8));
      ++damaged_;
    }
    uint32_t sent = 0;
    std::memcpy(&sent, sending_.bytes.data() + sending_.covered(), sizeof sent);
    matches_ = sent == ~sending_.register_now();
    uncovered_ += is_damaged && matches_;
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
    rtl_.beat_tuser = sending_.user();
    sent_ += bytes;
    if (left > beat_bytes)
      return;
    expected_.push_back({.clock = place_.clock + clocks_to_verdict, .matches = matches_});
    sending_ = {};
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    const bool is_due = !expected_.empty() && expected_.front().clock == place_.clock;
    expect(place_, "verdict", rtl_.checked, is_due);
    if (is_due) {
      expect(place_, "ICRC matches", rtl_.checked_matches, expected_.front().matches);
      expected_.pop_front();
    }
    rtl_.clock = 1;
    rtl_.eval();
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint32_t push_ = 100;
  WirePacket sending_; // without bytes: none
  uint32_t sent_ = 0;
  bool matches_ = false;
  std::deque<Verdict> expected_;
  uint64_t packets_ = 0;
  uint64_t damaged_ = 0;
  uint64_t uncovered_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
