// icrc_append beside the device model: packets of all framings and opcodes of the model, and some that end at
// any byte, enter without their ICRC, with random pauses on both sides, and must leave with the model's ICRC.
// Arguments: seed, clocks.
//
// First sends packets of some lengths without pauses, and prints the clocks that they take.
#include "Vicrc_append.h"
#include "wire_packets.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vicrc_append;

constexpr uint32_t beat_bytes = BEAT_BYTES;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    start_anew();
    // One beat; one whose ICRC does not fit; the largest payload.
    for (const uint32_t bytes : {beat_bytes - 4, beat_bytes, 4096U})
      stream(bytes);
    start_anew();
    for (place_.clock = 0; place_.clock < clocks_ || !expected_.empty(); ++place_.clock) {
      if (place_.clock % 64 == 0) {
        push_ = weight();
        take_ = weight();
      }
      if (place_.clock > clocks_ + 10'000)
        differ(place_, "packets that came out", packets_out_, packets_in_);
      step(place_.clock < clocks_ || !sending_.bytes.empty() ? push_ : 0, take_);
    }
    std::printf("%llu packets in %llu clocks, %llu tagged, %llu of InfiniBand, %llu with a beat more\n",
                number(packets_out_), number(clocks_), number(tagged_), number(infiniband_), number(grown_));
    return 0;
  }

private:
  static unsigned long long number(uint64_t value) { return value; }

  uint32_t weight() { return std::array{10U, 50U, 90U, 100U, 100U}[random_.below(5)]; }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.bare_tvalid = rtl_.whole_tready = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
      tick();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
      tick();
  }

  void tick() {
    rtl_.clock = 0;
    rtl_.eval();
    rtl_.clock = 1;
    rtl_.eval();
  }

  void begin_packet() {
    sending_ = random_.once(3)
                   ? some_unpadded_packet(random_, 300)
                   : some_packet(random_, random_.once(8) ? spec::packet_payload_bytes : 3 * beat_bytes);
    put(sending_);
    sent_ = 0;
  }

  void put(const WirePacket& packet) {
    expected_.insert(expected_.end(), packet.bytes.begin(), packet.bytes.end());
    ends_.push_back(expected_.size() + gone_);
    ++packets_in_;
    tagged_ += packet.is_tagged;
    infiniband_ += !wire::is_ethernet(packet.framing);
    grown_ +=
        packet.covered() % beat_bytes > beat_bytes - spec::icrc_bytes || packet.covered() % beat_bytes == 0;
  }

  void step(uint32_t push, uint32_t take) {
    if (!rtl_.bare_tvalid && random_.percent(push)) {
      if (sending_.bytes.empty())
        begin_packet();
      const uint32_t bytes = std::min(beat_bytes, sending_.covered() - sent_);
      const auto beat = some_beat<beat_bytes>(random_, std::span(sending_.bytes).subspan(sent_, bytes));
      std::memcpy(&rtl_.bare_tdata, beat.data(), beat_bytes);
      rtl_.bare_tkeep = keep_of(bytes);
      rtl_.bare_tlast = sent_ + bytes == sending_.covered();
      rtl_.bare_tuser = sending_.user();
      rtl_.bare_tvalid = 1;
    }
    rtl_.whole_tready = random_.percent(take);
    rtl_.clock = 0;
    rtl_.eval();
    const bool goes_in = rtl_.bare_tvalid && rtl_.bare_tready;
    if (rtl_.whole_tvalid && rtl_.whole_tready)
      compare();
    rtl_.clock = 1;
    rtl_.eval();
    if (!goes_in)
      return;
    rtl_.bare_tvalid = 0;
    sent_ += beat_bytes;
    if (rtl_.bare_tlast)
      sending_ = {};
  }

  // Compares the output beat.
  void compare() {
    if (ends_.empty())
      differ(place_, "packets that came out", packets_out_ + 1, packets_out_);
    const uint64_t left = ends_.front() - gone_;
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(beat_bytes, left));
    expect(place_, "bytes of a beat", rtl_.whole_tkeep, keep_of(bytes));
    expect(place_, "last beat", rtl_.whole_tlast, left <= beat_bytes);
    std::array<uint8_t, beat_bytes> beat;
    std::memcpy(beat.data(), &rtl_.whole_tdata, beat_bytes);
    for (uint32_t byte = 0; byte < beat_bytes; ++byte)
      expect(place_, "byte", beat[byte], byte < bytes ? expected_[byte] : 0);
    expected_.erase(expected_.begin(), expected_.begin() + bytes);
    gone_ += bytes;
    if (left > beat_bytes)
      return;
    ends_.pop_front();
    ++packets_out_;
  }

  // Packets of this size, without ICRC, in every clock.
  void stream(uint32_t bytes) {
    constexpr uint32_t beats = 2000;
    const uint32_t beats_of_packet = (bytes + beat_bytes - 1) / beat_bytes;
    const uint32_t packets = std::max(beats / beats_of_packet, 4U);
    uint32_t in = 0;
    uint32_t out = 0;
    uint32_t first = 0;
    uint32_t last = 0;
    rtl_.whole_tready = 1;
    for (uint32_t clock = 0; out < packets; ++clock) {
      const uint32_t beat = in % beats_of_packet;
      rtl_.bare_tvalid = in < packets * beats_of_packet;
      rtl_.bare_tlast = beat + 1 == beats_of_packet;
      rtl_.bare_tkeep = keep_of(std::min(beat_bytes, bytes - beat * beat_bytes));
      rtl_.clock = 0;
      rtl_.eval();
      in += rtl_.bare_tvalid && rtl_.bare_tready;
      if (rtl_.whole_tvalid) {
        first = first == 0 ? clock : first;
        last = clock;
        out += rtl_.whole_tlast;
      }
      rtl_.clock = 1;
      rtl_.eval();
      if (clock > 20 * beats)
        differ({.clock = clock}, "packets on end", out, packets);
    }
    const uint32_t beats_out = (bytes + spec::icrc_bytes + beat_bytes - 1) / beat_bytes * packets;
    std::printf("%u packets of %u bytes: %u beats out in %u clocks, the first after %u\n", packets, bytes,
                beats_out, last - first + 1, first);
    rtl_.bare_tvalid = 0;
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint32_t push_ = 100;
  uint32_t take_ = 100;
  WirePacket sending_; // without bytes: none
  uint32_t sent_ = 0;
  std::deque<uint8_t> expected_;
  std::deque<uint64_t> ends_; // end of each packet, in bytes from the first expected one
  uint64_t gone_ = 0;
  uint64_t packets_in_ = 0;
  uint64_t packets_out_ = 0;
  uint64_t tagged_ = 0;
  uint64_t infiniband_ = 0;
  uint64_t grown_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
