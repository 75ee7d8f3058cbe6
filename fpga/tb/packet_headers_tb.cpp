// packet_headers beside the device model: packets of all framings and opcodes, with random fields and
// payloads, and pauses on all three sides. Each must equal the result of wire::build_packet, byte by byte, up
// to its ICRC. Arguments: seed, clocks.
//
// First sends packets of some payloads without pauses, and prints the clocks that they take.
#include "Vpacket_headers.h"
#include "wire/packet_checksum.h"
#include "wire_packets.h"

#include <cstdio>
#include <deque>
#include <set>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vpacket_headers;

constexpr uint32_t beat_bytes = BEAT_BYTES;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    start_anew();
    for (const uint32_t payload : {0U, 64U, 256U, 1024U, 4096U})
      stream(payload);
    for (; place_.clock < clocks_ || !expected_.empty(); ++place_.clock) {
      if (place_.clock % 64 == 0) {
        packet_ = weight();
        payload_ = weight();
        take_ = weight();
      }
      if (place_.clock > clocks_ + 100'000)
        differ(place_, "packets that came out", packets_ - expected_.size(), packets_);
      step(place_.clock < clocks_ ? packet_ : 0);
    }
    std::printf(
        "%llu packets in %llu clocks, of %zu opcodes, %llu tagged, %llu of InfiniBand, %llu with a pad\n",
        number(packets_), number(clocks_), opcodes_.size(), number(tagged_), number(infiniband_),
        number(padded_));
    return 0;
  }

private:
  static unsigned long long number(uint64_t value) { return value; }

  uint32_t weight() { return std::array{10U, 50U, 100U, 100U}[random_.below(4)]; }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.packet = rtl_.payload = rtl_.whole_tready = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
      advance();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < 2; ++clock)
      advance();
  }

  void offer(WirePacket packet) {
    // The template is a number with its first byte highest.
    std::array<uint8_t, wire::PacketTemplate::bytes> headers{};
    const std::array<uint8_t, wire::PacketTemplate::bytes>& wire = packet.made.request.wire;
    std::reverse_copy(wire.begin(), wire.end(), headers.begin());
    std::memcpy(&rtl_.packet_template, headers.data(), headers.size());
    rtl_.packet_framing = static_cast<uint8_t>(packet.framing);
    rtl_.packet_is_tagged = packet.is_tagged;
    rtl_.packet_ipv4_sum = wire::folded(packet.made.ipv4_checksum_sum);
    const wire::PacketFields& fields = packet.fields;
    rtl_.packet_opcode = static_cast<uint8_t>(fields.opcode);
    rtl_.packet_solicited_event = fields.solicited_event;
    rtl_.packet_acknowledge_request = fields.acknowledge_request;
    rtl_.packet_packet_sequence_number = fields.packet_sequence_number;
    rtl_.packet_virtual_address = fields.virtual_address;
    rtl_.packet_remote_key = fields.remote_key;
    rtl_.packet_dma_length = fields.dma_length;
    rtl_.packet_swap_add = fields.swap_add;
    rtl_.packet_compare = fields.compare;
    rtl_.packet_original_data = fields.original_data;
    rtl_.packet_message_sequence_number = fields.message_sequence_number;
    rtl_.packet_syndrome = fields.syndrome;
    rtl_.packet_immediate_data = fields.immediate_data;
    rtl_.packet_queue_key = fields.queue_key;
    rtl_.packet_source_queue_pair = fields.source_queue_pair;
    rtl_.packet_payload_bytes = static_cast<uint16_t>(packet.payload_bytes);
    rtl_.packet = 1;
    offered_ = std::move(packet);
  }

  void begin() {
    ++packets_;
    opcodes_.insert(offered_.fields.opcode);
    tagged_ += offered_.is_tagged;
    infiniband_ += !wire::is_ethernet(offered_.framing);
    padded_ += offered_.payload_bytes % 4 != 0;
    for (uint32_t done = 0; done < offered_.payload_bytes; done += beat_bytes) {
      const uint32_t part = std::min(beat_bytes, offered_.payload_bytes - done);
      beats_.push_back(
          some_beat<beat_bytes>(random_, std::span(offered_.bytes).subspan(offered_.payload + done, part)));
    }
    expected_.push_back(std::move(offered_.bytes));
  }

  void put_beat() {
    std::memcpy(&rtl_.payload_data, beats_.front().data(), beat_bytes);
    beats_.pop_front();
    rtl_.payload = 1;
  }

  void step(uint32_t packet) {
    if (!rtl_.packet && random_.percent(packet))
      offer(some_packet(random_, random_.once(8) ? spec::packet_payload_bytes : 3 * beat_bytes));
    if (!rtl_.payload && !beats_.empty() && random_.percent(payload_))
      put_beat();
    rtl_.whole_tready = random_.percent(take_);
    advance();
  }

  void advance() {
    rtl_.clock = 0;
    rtl_.eval();
    const bool begins = rtl_.packet && rtl_.packet_ready;
    const bool goes_in = rtl_.payload && rtl_.payload_ready;
    if (begins)
      begin();
    if (rtl_.whole_tvalid && rtl_.whole_tready)
      compare();
    rtl_.clock = 1;
    rtl_.eval();
    if (begins)
      rtl_.packet = 0;
    if (goes_in)
      rtl_.payload = 0;
  }

  // Compares the output beat.
  void compare() {
    if (expected_.empty())
      differ(place_, "packets that came out", packets_ + 1, packets_);
    const std::vector<uint8_t>& now = expected_.front();
    const auto bytes = static_cast<uint32_t>(std::min<size_t>(beat_bytes, now.size() - done_));
    std::array<uint8_t, beat_bytes> beat;
    std::memcpy(beat.data(), &rtl_.whole_tdata, beat_bytes);
    for (uint32_t byte = 0; byte < bytes; ++byte)
      if (beat[byte] != now[done_ + byte])
        differ({place_.seed, place_.clock}, "byte", uint64_t{done_ + byte} << 32 | beat[byte],
               uint64_t{done_ + byte} << 32 | now[done_ + byte]);
    expect(place_, "bytes of a beat", rtl_.whole_tkeep, keep_of(bytes));
    done_ += bytes;
    expect(place_, "last beat", rtl_.whole_tlast, done_ == now.size());
    ++beats_out_;
    if (done_ != now.size())
      return;
    expected_.pop_front();
    done_ = 0;
  }

  // SENDs over IPv4 with this payload, at full speed.
  void stream(uint32_t payload) {
    constexpr uint32_t beats = 2000;
    const uint32_t count = std::max(beats * beat_bytes / (payload + 64), 20U);
    WirePacket packet;
    do
      packet = some_packet(random_, payload);
    while (packet.payload_bytes != payload || packet.framing != wire::PacketFraming::ethernet_ipv4 ||
           packet.is_tagged || spec::traits_of(packet.fields.opcode).extended_bytes != 0);
    rtl_.whole_tready = 1;
    uint32_t asked = 0;
    uint32_t first = 0;
    uint32_t clocks = 0;
    const uint64_t before = beats_out_;
    for (; asked < count || rtl_.packet || !expected_.empty(); ++clocks) {
      if (!rtl_.packet && asked < count) {
        offer(packet);
        ++asked;
      }
      if (!rtl_.payload && !beats_.empty())
        put_beat();
      advance();
      first = first == 0 && beats_out_ != before ? clocks : first;
      if (clocks > 20 * beats)
        differ(place_, "packets on end", expected_.size(), 0);
    }
    std::printf("%u packets with %u bytes of payload: %llu beats in %u clocks, the first after %u\n", count,
                payload, number(beats_out_ - before), clocks - first, first);
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint32_t packet_ = 100;
  uint32_t payload_ = 100;
  uint32_t take_ = 100;
  WirePacket offered_;
  std::deque<std::array<uint8_t, beat_bytes>> beats_; // of payload
  std::deque<std::vector<uint8_t>> expected_;
  size_t done_ = 0; // bytes of the output packet
  uint64_t beats_out_ = 0;
  uint64_t packets_ = 0;
  uint64_t tagged_ = 0;
  uint64_t infiniband_ = 0;
  uint64_t padded_ = 0;
  std::set<spec::PacketOpcode> opcodes_;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
