// packet_receiver beside the device model: packets of all framings and opcodes, with and without a fault,
// arrive from a link. Packets that wire::parse_packet of the model accepts must leave in order, with the
// model's fields, and with their bytes in a buffer of their own until its release. Congestion notifications
// are counted, dropped packets by the model's reasons. The link waits only while no buffer is free.
// Arguments: seed, clocks.
#include "Vpacket_receiver.h"
#include "damaged_packets.h"
#include "parsed_packets.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <set>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vpacket_receiver;

constexpr uint32_t beat_bytes = BEAT_BYTES;
constexpr uint32_t buffers = BUFFERS;
constexpr uint32_t clocks_to_read = 3;
constexpr uint32_t clocks_to_rest = 64; // to a verdict, and to the release of buffers
constexpr uint32_t clocks_to_begin = std::max(buffers, 32U) + 8; // to clear the free list and counts
constexpr uint32_t clocks_to_return = 3; // from the release of a buffer to its next allocation

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    step();
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 2048 == 0)
        holds_ = random_.once(3); // until no buffer is free
      if (place_.clock % 64 == 0)
        choose_weights();
      // The link changes while nothing is in flight.
      if (place_.clock % 2048 == 2047) {
        come_to_rest();
        rtl_.is_infiniband = !rtl_.is_infiniband;
        step();
      }
      begin_clock(push_, take_, give_back_);
      step();
    }
    come_to_rest();
    std::printf(
        "%llu packets in %llu clocks, %llu went on, %llu congestion notifications, %zu reasons, at most %zu "
        "in buffers, the link waited %llu clocks; a packet alone after %llu clocks\n",
        number(packets_), number(clocks_), number(passed_), number(notifications_), reasons_.size(), most_,
        number(waited_), number(latest_));
    return 0;
  }

private:
  struct Expected {
    ParsedByModel model;
    std::vector<uint8_t> bytes;
    uint64_t ended = 0;    // clock of its last beat
    bool is_alone = false; // no earlier packet waits, and it is accepted at once
  };
  struct Held {
    uint32_t packet = 0;
    std::vector<uint8_t> bytes;
  };
  struct Read {
    uint64_t due = 0;
    std::vector<uint8_t> bytes;
  };

  static unsigned long long number(uint64_t value) { return value; }

  void choose_weights() {
    push_ = std::array{10U, 50U, 100U, 100U}[random_.below(4)];
    take_ = std::array{5U, 50U, 100U}[random_.below(3)];
    is_cut_ = place_.clock == 0 || random_.once(12);
    give_back_ = holds_ ? 0 : std::array{2U, 20U, 100U}[random_.below(3)];
  }

  // Drives the ports for a clock, with these probabilities.
  void begin_clock(uint32_t push, uint32_t take, uint32_t give_back) {
    rtl_.give_back = 0;
    if (!rtl_.link_tvalid && random_.percent(push))
      put_beat();
    rtl_.packet_ready = random_.percent(take);
    if (!held_.empty() && random_.percent(50))
      read(held_[random_.below(static_cast<uint32_t>(held_.size()))]);
    else if (!held_.empty() && random_.percent(give_back))
      end_one();
  }

  void come_to_rest() {
    comes_to_rest_ = true;
    while (!sending_.bytes.empty() || rtl_.link_tvalid)
      rest_clock(100);
    for (uint32_t clock = 0; clock < clocks_to_rest || !held_.empty() || !expected_.empty(); ++clock) {
      if (clock > 100'000)
        differ(place_, "packets that came out", expected_.size(), 0);
      rest_clock(0);
    }
    for (uint32_t clock = 0; clock < clocks_to_rest; ++clock)
      rest_clock(0);
    expect(place_, "free buffers", rtl_.free, buffers);
    for (uint32_t reason = 0; reason < dropped_.size(); ++reason) {
      rtl_.count_reason = reason;
      step();
      rtl_.eval();
      expect(place_, "packets dropped for a reason", rtl_.count, dropped_[reason]);
    }
    expect(place_, "congestion notifications", rtl_.congestion_notifications, notifications_);
    comes_to_rest_ = false;
  }
  void rest_clock(uint32_t push) {
    if (push == 0 || sending_.bytes.empty())
      push = 0;
    begin_clock(push, 100, 100);
    step();
  }

  void begin_packet() {
    do
      sending_ = some_packet(random_, random_.once(8) ? spec::packet_payload_bytes : 3 * beat_bytes);
    while (wire::is_ethernet(sending_.framing) == (rtl_.is_infiniband != 0));
    PacketDamage(random_, sending_).some();
    if (is_cut_) // one in each clock
      sending_.bytes.resize(std::min<size_t>(sending_.bytes.size(), beat_bytes));
    sent_ = 0;
    ++packets_;
  }

  void put_beat() {
    if (sending_.bytes.empty())
      begin_packet();
    const auto left = static_cast<uint32_t>(sending_.bytes.size()) - sent_;
    const uint32_t bytes = std::min(beat_bytes, left);
    const auto beat = some_beat<beat_bytes>(random_, std::span(sending_.bytes).subspan(sent_, bytes));
    std::memcpy(&rtl_.link_tdata, beat.data(), beat_bytes);
    rtl_.link_tkeep = keep_of(bytes);
    rtl_.link_tlast = left <= beat_bytes;
    rtl_.link_tvalid = 1;
  }

  // The beat is accepted.
  void note_sent() {
    if (sent_ == 0)
      most_ = std::max<size_t>(most_, buffers - rtl_.free + 1);
    sent_ += beat_bytes;
    if (!rtl_.link_tlast)
      return;
    ParsedByModel model = parse(rtl_.is_infiniband != 0, sending_.bytes);
    reasons_.insert(model.drop);
    if (model.drop != spec::PacketDrop::none)
      ++dropped_[static_cast<size_t>(model.drop)];
    else if (model.parsed.traits().operation == spec::PacketOperation::congestion_notification)
      ++notifications_;
    else
      expected_.push_back({.model = std::move(model),
                           .bytes = std::move(sending_.bytes),
                           .ended = now_,
                           .is_alone = comes_to_rest_ && expected_.empty()});
    sending_ = {};
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    if (!reads_.empty() && reads_.front().due == now_)
      compare_read();
    const bool goes_in = rtl_.link_tvalid && rtl_.link_tready;
    if (rtl_.link_tvalid && !rtl_.link_tready) {
      ++waited_;
      // Released buffers are free some clocks later; a packet that has begun never waits.
      expect(place_, "the link waits in a packet", sent_ != 0, 0);
      waits_with_free_ = rtl_.free != 0 ? waits_with_free_ + 1 : 0;
      if (waits_with_free_ > (has_begun_ ? clocks_to_return : clocks_to_begin))
        differ(place_, "the link waits though a buffer is free", rtl_.free, 0);
    } else {
      waits_with_free_ = 0;
    }
    has_begun_ |= goes_in;
    if (goes_in)
      note_sent();
    if (rtl_.packet_valid && rtl_.packet_ready)
      take();
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
    if (goes_in)
      rtl_.link_tvalid = 0;
  }

  void take() {
    if (expected_.empty())
      differ(place_, "packets that came out", 1, 0);
    Expected expected = std::move(expected_.front());
    expected_.pop_front();
    ++passed_;
    if (expected.is_alone)
      latest_ = std::max(latest_, now_ - expected.ended);
    compare_fields(place_, &rtl_.packet_fields[0], expected.model);
    expect(place_, "bytes of payload", rtl_.packet_payload_bytes, expected.model.parsed.payload_bytes);
    for (const Held& held : held_)
      expect(place_, "a buffer is one packet's", held.packet == rtl_.packet, 0);
    held_.push_back({.packet = rtl_.packet, .bytes = std::move(expected.bytes)});
  }

  void read(const Held& held) {
    const auto beats = static_cast<uint32_t>((held.bytes.size() + beat_bytes - 1) / beat_bytes);
    const uint32_t beat = random_.once(2) ? beats - 1 : random_.below(beats);
    rtl_.read_packet = held.packet;
    rtl_.read_place = beat;
    const auto begin = held.bytes.begin() + beat * beat_bytes;
    const size_t bytes = std::min<size_t>(beat_bytes, held.bytes.size() - beat * beat_bytes);
    reads_.push_back({.due = now_ + clocks_to_read, .bytes = {begin, begin + static_cast<ptrdiff_t>(bytes)}});
  }

  void compare_read() {
    std::array<uint8_t, beat_bytes> beat;
    std::memcpy(beat.data(), &rtl_.read_data, beat_bytes);
    for (size_t byte = 0; byte < reads_.front().bytes.size(); ++byte)
      expect(place_, "byte", beat[byte], reads_.front().bytes[byte]);
    reads_.pop_front();
  }

  void end_one() {
    const uint32_t index = random_.below(static_cast<uint32_t>(held_.size()));
    rtl_.give_back = 1;
    rtl_.give_back_packet = held_[index].packet;
    held_.erase(held_.begin() + index);
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint64_t now_ = 0;
  uint32_t push_ = 100;
  uint32_t take_ = 100;
  uint32_t give_back_ = 100;
  bool holds_ = false;
  bool is_cut_ = false;
  bool comes_to_rest_ = false;
  WirePacket sending_; // without bytes: none
  uint32_t sent_ = 0;
  bool has_begun_ = false;       // something was accepted
  uint32_t waits_with_free_ = 0; // clocks
  std::deque<Expected> expected_;
  std::vector<Held> held_;
  std::deque<Read> reads_;
  std::array<uint64_t, 25> dropped_{}; // by reason
  std::set<spec::PacketDrop> reasons_;
  uint64_t packets_ = 0;
  uint64_t passed_ = 0;
  uint64_t notifications_ = 0;
  uint64_t waited_ = 0;
  uint64_t latest_ = 0; // clocks of a single packet
  size_t most_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
