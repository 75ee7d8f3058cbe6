// queue_pairs beside packet_receiver of the device model: a resource manager creates, changes, quiesces and
// destroys queue pairs only by registers, while packets to them arrive from a link. Most packets are valid
// except for one field; some have an inverted bit. Packets that the model accepts must leave in order, with
// its fields and queue pair; all others are counted for its reasons. A packet in flight during a change may
// find the state before or after it. No packet reaches a destroyed or quiet queue pair, or one of another
// function. Later blocks write contexts, which others read. Arguments: seed, clocks.
//
// Finally sends packets to one queue pair without a pause, and prints the clocks that they take.
#include "Vqueue_pairs.h"
#include "queue_pairs_manager.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vqueue_pairs;
using spec::PacketDrop;

constexpr uint32_t contexts = CONTEXTS;
constexpr uint32_t beat_bytes = BEAT_BYTES;
constexpr uint32_t buffers = BUFFERS;
constexpr uint32_t readers = 7;
constexpr uint32_t reasons = static_cast<uint32_t>(PacketDrop::time_wait) + 1;
constexpr uint32_t clocks_to_read = 3;
constexpr uint32_t clocks_to_rest = 200;
constexpr uint32_t clocks_of_contexts = 40; // until a change of a context is visible
constexpr uint32_t rest_limit = 100'000;
constexpr uint32_t most_under_way = 200; // dropped packets are known when a later one passes, or at rest
constexpr uint32_t tries_limit = 2000;
constexpr uint32_t clocks_of_changes = 4000;

class Bench {
public:
  // Odd seeds use Ethernet.
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks),
        model_(contexts, seed % 2 != 0 ? spec::LinkLayer::ethernet : spec::LinkLayer::infiniband),
        traffic_(random_, model_, seed % 2 == 0, 1),
        manager_(
            random_, place_, model_, traffic_, rtl_, [this] { evaluate_all(); },
            [this](uint32_t number) {
              return static_cast<uint32_t>(std::ranges::count(held_, number, &Held::queue_pair));
            }),
        is_infiniband_(seed % 2 == 0) {}

  int run() {
    if (!model_.open())
      differ(place_, "bytes of context memory", 0, 1);
    rtl_.is_infiniband = is_infiniband_;
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    // Register accesses and packets wait meanwhile.
    manager_.host.begin_read(rtl_, {.address = spec::manager_port::status});
    manager_.host.begin_write(rtl_, {.address = spec::manager_port::data});
    manager_.plan_tables(1);
    for (uint32_t clock = 0; clock == 0 || rtl_.clearing; ++clock) {
      if (clock > contexts * 256 + 64)
        differ(place_, "clearing", 1, 0);
      manager_.go_on(place_.clock, false, false);
      step();
    }
    for (uint32_t clock = 0; !manager_.is_idle(); ++clock) {
      if (clock > rest_limit)
        differ(place_, "commands that are answered", 0, 1);
      manager_.go_on(place_.clock, false, false);
      step();
    }
    const uint64_t begin = place_.clock;
    while (place_.clock < begin + clocks_) {
      if (place_.clock % 512 == 0)
        choose_weights();
      if (place_.clock % 8192 == 0 || under_way_.size() > most_under_way)
        come_to_rest();
      begin_clock(true);
      step();
    }
    come_to_rest();
    const uint64_t certain = certain_;
    const uint64_t packets = packets_;
    const uint64_t passed = passed_;
    stream();
    std::printf(
        "%llu packets in %llu clocks, %llu passed, %llu with one verdict, %zu reasons, %llu commands, "
        "%llu queue pairs destroyed, %llu not yet, %llu quiet, %llu failures, %llu contexts read\n",
        number(packets), number(clocks_), number(passed), number(certain), reasons_.size(),
        number(manager_.commands), number(manager_.destroyed), number(manager_.destroys_refused),
        number(manager_.quiets), number(manager_.failures), number(contexts_read_));
    return 0;
  }

private:
  struct Verdict {
    PacketDrop reason = PacketDrop::none; // none: the packet passes
    uint32_t queue_pair = 0;
    unsigned underlying_function = 0;
    bool operator==(const Verdict&) const = default;
  };
  struct UnderWay {
    ParsedByModel parsed;
    std::vector<uint8_t> bytes; // on the link of the RTL
    std::vector<uint8_t> received;
    std::vector<Verdict> verdicts; // permitted verdicts
    uint64_t ended = 0;
    bool is_alone = false;
  };
  struct Held {
    uint32_t packet = 0;
    uint32_t queue_pair = 0;
    std::vector<uint8_t> bytes;
  };
  struct Read {
    uint64_t due = 0;
    std::vector<uint8_t> bytes;
  };
  struct Asked {
    uint32_t number = 0;
    uint64_t clock = 0;
  };
  // The value that the writers wrote last, one field of each.
  struct Written {
    uint32_t number = 0;
    uint64_t clock = 0;
    std::array<uint8_t, 64> completion{};
    std::array<uint8_t, 128> receive{};
  };

  static unsigned long long number(uint64_t value) { return value; }

  void choose_weights() {
    push_ = std::array{20U, 60U, 100U}[random_.below(3)];
    take_ = std::array{10U, 60U, 100U}[random_.below(3)];
    end_ = std::array{2U, 20U, 80U}[random_.below(3)];
    read_ = std::array{0U, 10U, 40U}[random_.below(3)];
    manager_.host.ready = std::array{20U, 60U, 100U}[random_.below(3)];
  }

  // The model's verdicts.

  void add(UnderWay& packet, const Verdict& verdict) {
    if (std::ranges::find(packet.verdicts, verdict) == packet.verdicts.end())
      packet.verdicts.push_back(verdict);
  }
  Verdict verdict_of(const UnderWay& packet) {
    const auto before = model_.counters.device.packets_dropped;
    if (const auto passed = model_.receive(packet.received, 1)) {
      model_.queue_pairs.unpin(passed->queue_pair);
      model_.queue_pairs.take_quiet();
      return {.queue_pair = passed->queue_pair, .underlying_function = passed->underlying_function};
    }
    for (uint32_t reason = 0; reason < before.size(); ++reason)
      if (model_.counters.device.packets_dropped[reason] != before[reason])
        return {.reason = static_cast<PacketDrop>(reason)};
    differ(place_, "a packet of the model is dropped for a reason", 1, 0);
  }
  void evaluate(UnderWay& packet) {
    const Verdict verdict = verdict_of(packet);
    add(packet, verdict);
    const bool is_unknown =
        verdict.reason == PacketDrop::unknown_queue_pair || verdict.reason == PacketDrop::time_wait;
    if (is_unknown && manager_.is_ending(packet.parsed.parsed.destination_queue_pair)) {
      add(packet, {.reason = PacketDrop::unknown_queue_pair});
      add(packet, {.reason = PacketDrop::time_wait});
    }
    const auto& pending = manager_.pending();
    if (!pending)
      return;
    if (pending->destroys) {
      if (model_.numbers.find(packet.parsed.parsed.destination_queue_pair) == pending->number)
        add(packet, {.reason = PacketDrop::unknown_queue_pair});
      return;
    }
    if (pending->quiesces)
      model_.queue_pairs.quiesce(pending->number);
    else
      model_.queue_pairs.resume(pending->number);
    model_.queue_pairs.take_quiet();
    add(packet, verdict_of(packet));
    const auto found =
        std::ranges::find(traffic_.live, pending->number, &DestinationTraffic::QueuePair::number);
    if (found != traffic_.live.end() && found->is_quiescing)
      model_.queue_pairs.quiesce(pending->number);
    else
      model_.queue_pairs.resume(pending->number);
    model_.queue_pairs.take_quiet();
  }
  void evaluate_all() {
    for (UnderWay& packet : under_way_)
      evaluate(packet);
  }

  // Packets.

  void begin_packet() {
    sent_ = 0;
    sending_ = {};
    if (traffic_.live.empty() || random_.once(20)) {
      sending_.bytes = some_packet(random_, 64).bytes;
    } else {
      const auto arriving = traffic_.some_packet_to(traffic_.some_queue_pair());
      if (!arriving)
        return begin_packet();
      sending_.bytes = arriving->packet.bytes;
    }
    if (random_.once(16)) {
      const uint32_t bit = random_.below(static_cast<uint32_t>(sending_.bytes.size()) * 8);
      sending_.bytes[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    }
  }

  void put_beat() {
    const auto left = static_cast<uint32_t>(sending_.bytes.size()) - sent_;
    const uint32_t bytes = std::min(beat_bytes, left);
    const auto beat = some_beat<beat_bytes>(random_, std::span(sending_.bytes).subspan(sent_, bytes));
    std::memcpy(&rtl_.link_tdata, beat.data(), beat_bytes);
    rtl_.link_tkeep = keep_of(bytes);
    rtl_.link_tlast = left <= beat_bytes;
    rtl_.link_tvalid = 1;
  }

  // A beat is accepted; with the last one the packet is on its way to its verdict.
  void note_sent() {
    sent_ += beat_bytes;
    if (!rtl_.link_tlast)
      return;
    UnderWay packet = std::move(sending_);
    sending_ = {};
    sent_ = 0;
    ++packets_;
    packet.parsed = parse(is_infiniband_, packet.bytes);
    const PacketDrop drop = packet.parsed.drop;
    if (drop != PacketDrop::none) {
      ++dropped_by_parser_[static_cast<size_t>(drop)];
      return;
    }
    if (packet.parsed.parsed.traits().operation == spec::PacketOperation::congestion_notification) {
      ++notifications_;
      return;
    }
    packet.received = traffic_.bytes_on_link(packet.bytes);
    packet.ended = place_.clock;
    packet.is_alone = is_alone_;
    evaluate(packet);
    under_way_.push_back(std::move(packet));
  }

  void drop(const UnderWay& packet) {
    certain_ += packet.verdicts.size() == 1;
    std::set<PacketDrop> possible;
    for (const Verdict& verdict : packet.verdicts)
      if (verdict.reason != PacketDrop::none)
        possible.insert(verdict.reason);
    if (possible.empty())
      differ(place_, "packets that do not come out", 1, 0);
    ++dropped_;
    for (const PacketDrop reason : possible) {
      ++most_[static_cast<size_t>(reason)];
      least_[static_cast<size_t>(reason)] += possible.size() == 1;
      if (possible.size() == 1)
        reasons_.insert(reason);
    }
  }

  void take_checked() {
    Members members(&rtl_.checked_fields[0]);
    uint32_t sequence = 0;
    uint32_t queue_pair = 0;
    visit_fields({}, [&](const char* what, uint32_t bits, uint64_t) {
      const uint64_t value = members.take(bits);
      if (std::strcmp(what, "PSN") == 0)
        sequence = static_cast<uint32_t>(value);
      if (std::strcmp(what, "destination queue pair") == 0)
        queue_pair = static_cast<uint32_t>(value);
    });
    // The packets before it were dropped.
    while (!under_way_.empty() &&
           under_way_.front().parsed.parsed.fields.packet_sequence_number != sequence) {
      drop(under_way_.front());
      under_way_.pop_front();
    }
    if (under_way_.empty())
      differ(place_, "packets that come out", 1, 0);
    UnderWay packet = std::move(under_way_.front());
    under_way_.pop_front();
    const Verdict verdict{.queue_pair = queue_pair, .underlying_function = rtl_.checked_underlying_function};
    if (std::ranges::find(packet.verdicts, verdict) == packet.verdicts.end())
      differ(place_, "a packet that passes, by its queue pair", queue_pair,
             packet.verdicts.front().queue_pair);
    certain_ += packet.verdicts.size() == 1;
    ++passed_;
    // Independent of the model's verdict on this packet:
    const auto& known = manager_.known(queue_pair);
    expect(place_, "queue pair of a packet is there", known.is_live && known.number == queue_pair, 1);
    expect(place_, "function of a packet", rtl_.checked_underlying_function, known.underlying_function);
    expect(place_, "a packet comes to a queue pair that is quiet", known.is_quiet, 0);
    packet.parsed.parsed.destination_queue_pair = queue_pair;
    compare_fields(place_, &rtl_.checked_fields[0], packet.parsed);
    expect(place_, "bytes of payload", rtl_.checked_payload_bytes, packet.parsed.parsed.payload_bytes);
    for (const Held& held : held_)
      expect(place_, "a buffer is one packet's", held.packet == rtl_.checked_packet, 0);
    if (packet.is_alone)
      latest_ = std::max(latest_, place_.clock - packet.ended);
    held_.push_back(
        {.packet = rtl_.checked_packet, .queue_pair = queue_pair, .bytes = std::move(packet.bytes)});
  }

  // A clock.

  void begin_clock(bool sends) {
    if (sends && !rtl_.link_tvalid && random_.percent(push_)) {
      if (sending_.bytes.empty())
        begin_packet();
      put_beat();
    } else if (!sends && !rtl_.link_tvalid && !sending_.bytes.empty() && sent_ != 0)
      put_beat();
    rtl_.checked_ready = random_.percent(take_);
    rtl_.unpin = rtl_.give_back = 0;
    if (!held_.empty() && random_.percent(end_))
      end_one();
    else if (!held_.empty())
      read(held_[random_.below(static_cast<uint32_t>(held_.size()))]);
    ask();
    write_contexts();
    manager_.go_on(place_.clock, sends, true);
  }

  void end_one() {
    const uint32_t index = random_.below(static_cast<uint32_t>(held_.size()));
    rtl_.give_back = rtl_.unpin = 1;
    rtl_.give_back_packet = held_[index].packet;
    rtl_.unpin_number = held_[index].queue_pair;
    held_.erase(held_.begin() + index);
  }

  void read(const Held& held) {
    const auto beats = static_cast<uint32_t>((held.bytes.size() + beat_bytes - 1) / beat_bytes);
    const uint32_t beat = random_.below(beats);
    rtl_.read_packet = held.packet;
    rtl_.read_place = beat;
    const auto begin = held.bytes.begin() + beat * beat_bytes;
    const size_t bytes = std::min<size_t>(beat_bytes, held.bytes.size() - beat * beat_bytes);
    reads_.push_back(
        {.due = place_.clock + clocks_to_read, .bytes = {begin, begin + static_cast<ptrdiff_t>(bytes)}});
  }
  void compare_read() {
    std::array<uint8_t, beat_bytes> beat;
    std::memcpy(beat.data(), &rtl_.read_data, beat_bytes);
    for (size_t byte = 0; byte < reads_.front().bytes.size(); ++byte)
      expect(place_, "byte of a packet", beat[byte], reads_.front().bytes[byte]);
    reads_.pop_front();
  }

  // Contexts of later blocks: one reader and two writers.
  void ask() {
    rtl_.read = 0;
    if (traffic_.live.empty() || !random_.percent(read_))
      return;
    const uint32_t reader = random_.below(readers);
    const uint32_t asked = traffic_.some_queue_pair().number;
    rtl_.read = 1U << reader;
    for (uint32_t bit = 0; bit < 24; ++bit) {
      const uint32_t at = reader * 24 + bit;
      rtl_.read_number[at / 32] = (rtl_.read_number[at / 32] & ~(1U << at % 32)) | (asked >> bit & 1)
                                                                                       << at % 32;
    }
    asking_ = {.number = asked, .clock = place_.clock};
  }
  void take_answers() {
    for (uint32_t reader = 0; reader < readers; ++reader) {
      if (rtl_.read >> reader & rtl_.read_ready >> reader & 1)
        asked_[reader].push_back(asking_);
      if ((rtl_.answer >> reader & 1) == 0)
        continue;
      if (asked_[reader].empty())
        differ(place_, "contexts that are answered", 1, 0);
      compare_context(asked_[reader].front());
      asked_[reader].pop_front();
    }
  }
  void compare_context(const Asked& asked) {
    const auto found = std::ranges::find(traffic_.live, asked.number, &DestinationTraffic::QueuePair::number);
    if (asked.clock < manager_.last_change + clocks_of_contexts || found == traffic_.live.end() ||
        manager_.pending())
      return;
    ++contexts_read_;
    expect(place_, "a context is found", rtl_.answer_found, 1);
    const auto own = model_.queue_pairs.find(found->underlying_function, found->number);
    if (std::memcmp(&rtl_.answer_control, &own->control, spec::QueuePairControl::bytes) != 0)
      differ(place_, "control part of a context", asked.number, 0);
    const Written& written = written_[asked.number & (contexts - 1)];
    if (written.number != asked.number || asked.clock < written.clock + clocks_of_contexts)
      return;
    spec::QueuePairCompletion completion;
    spec::QueuePairCompletion expected_completion;
    std::memcpy(&completion, &rtl_.answer_completion, sizeof completion);
    std::memcpy(&expected_completion, written.completion.data(), sizeof completion);
    expect(place_, "unacknowledged PSN", completion.unacknowledged_psn(),
           expected_completion.unacknowledged_psn());
    spec::QueuePairResponder responder;
    spec::QueuePairResponder expected_responder;
    std::memcpy(&responder, &rtl_.answer_responder, sizeof responder);
    std::memcpy(&expected_responder, written.receive.data(), sizeof responder);
    expect(place_, "progress within a message", responder.current_offset(),
           expected_responder.current_offset());
  }
  void write_contexts() {
    rtl_.completion_write = rtl_.receive_write = 0;
    if (traffic_.live.empty() || !random_.once(64))
      return;
    const uint32_t of = traffic_.some_queue_pair().number;
    Written& written = written_[of & (contexts - 1)];
    written.number = of;
    written.clock = place_.clock;
    fill(random_, written.completion);
    fill(random_, written.receive);
    rtl_.completion_write = rtl_.receive_write = 1;
    rtl_.completion_number = rtl_.receive_number = of;
    std::memcpy(&rtl_.completion_completion, written.completion.data(), written.completion.size());
    std::memcpy(&rtl_.receive_responder, written.receive.data(), written.receive.size());
  }

  void step() {
    manager_.host.offer(rtl_);
    rtl_.clock = 0;
    rtl_.eval();
    const bool goes_in = rtl_.link_tvalid && rtl_.link_tready;
    if (!rtl_.reset) {
      if (!reads_.empty() && reads_.front().due == place_.clock)
        compare_read();
      // The state before this clock's answers.
      if (rtl_.checked_valid && rtl_.checked_ready)
        take_checked();
      take_answers();
      manager_.take();
      if (goes_in)
        note_sent();
    }
    rtl_.clock = 1;
    rtl_.eval();
    ++place_.clock;
    if (goes_in)
      rtl_.link_tvalid = 0;
  }

  // Nothing is in flight: all packets that did not leave were dropped.
  void come_to_rest() {
    const uint32_t take = take_;
    const uint32_t end = end_;
    take_ = 100;
    end_ = 60;
    uint32_t still = 0;
    for (uint32_t clock = 0; still < clocks_to_rest; ++clock) {
      if (clock > rest_limit)
        differ(place_, "packets and commands under way", under_way_.size(), 0);
      begin_clock(false);
      step();
      const bool rests =
          rtl_.free == buffers && held_.empty() && manager_.is_idle() && !rtl_.link_tvalid && sent_ == 0;
      still = rests ? still + 1 : 0;
    }
    for (const UnderWay& packet : under_way_)
      drop(packet);
    under_way_.clear();
    compare_counts();
    take_ = take;
    end_ = end;
  }

  void compare_counts() {
    uint64_t dropped = 0;
    for (uint32_t reason = 1; reason < reasons; ++reason) {
      rtl_.count_reason = reason;
      step();
      rtl_.eval();
      if (dropped_by_parser_[reason] != 0) {
        expect(place_, "packets dropped by the parser", rtl_.count, dropped_by_parser_[reason]);
        continue;
      }
      if (rtl_.count < least_[reason] || rtl_.count > most_[reason])
        differ(place_, "packets dropped for a reason", rtl_.count, least_[reason]);
      dropped += rtl_.count;
      if (reason == static_cast<uint32_t>(PacketDrop::wrong_partition_key))
        compare_port(rtl_.bad_partition_keys);
      if (reason == static_cast<uint32_t>(PacketDrop::wrong_queue_key))
        compare_port(rtl_.bad_queue_keys);
    }
    expect(place_, "packets dropped", dropped, dropped_);
    expect(place_, "congestion notifications", rtl_.congestion_notifications, notifications_);
  }
  void compare_port(const auto& counts) {
    expect(place_, "bad keys of the first port", uint64_t{counts[1]} << 32 | counts[0], rtl_.count);
    expect(place_, "bad keys of the second port", uint64_t{counts[3]} << 32 | counts[2], 0);
  }

  void stream() {
    push_ = take_ = end_ = 100;
    read_ = 0;
    constexpr uint32_t count = 300;
    const uint64_t begin = place_.clock;
    const uint64_t before = packets_;
    while (packets_ < before + count) {
      if (!rtl_.link_tvalid) {
        if (sending_.bytes.empty())
          begin_packet();
        put_beat();
      }
      rtl_.checked_ready = 1;
      rtl_.unpin = rtl_.give_back = 0;
      if (!held_.empty())
        end_one();
      step();
    }
    const uint64_t spent = place_.clock - begin;
    come_to_rest();
    is_alone_ = true;
    for (uint32_t tries = 0; latest_ == 0; ++tries) {
      if (tries > tries_limit)
        differ(place_, "a packet that passes", 0, 1);
      // Existing queue pairs may be quiet, or not connected.
      for (uint32_t clock = 0; tries % 16 == 15 && clock < clocks_of_changes; ++clock) {
        manager_.go_on(place_.clock, true, true);
        step();
      }
      come_to_rest();
      take_ = 100;
      const uint64_t packets = packets_;
      while (packets_ == packets) {
        if (!rtl_.link_tvalid) {
          if (sending_.bytes.empty())
            begin_packet();
          put_beat();
        }
        step();
      }
      come_to_rest();
    }
    std::printf("%u packets in %llu clocks, one alone after %llu clocks\n", count, number(spent),
                number(latest_));
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  DestinationModel model_;
  DestinationTraffic traffic_;
  QueuePairsManager<Rtl> manager_;
  bool is_infiniband_;
  uint32_t push_ = 100;
  uint32_t take_ = 100;
  uint32_t end_ = 100;
  uint32_t read_ = 0;
  UnderWay sending_; // without bytes: none
  uint32_t sent_ = 0;
  bool is_alone_ = false;
  std::deque<UnderWay> under_way_;
  std::vector<Held> held_;
  std::deque<Read> reads_;
  std::array<std::deque<Asked>, readers> asked_;
  Asked asking_;
  std::vector<Written> written_ = std::vector<Written>(contexts);
  std::array<uint64_t, reasons> dropped_by_parser_{};
  std::array<uint64_t, reasons> least_{}; // dropped, by reason
  std::array<uint64_t, reasons> most_{};
  uint64_t dropped_ = 0;
  std::set<PacketDrop> reasons_;
  uint64_t packets_ = 0;
  uint64_t passed_ = 0;
  uint64_t certain_ = 0;
  uint64_t notifications_ = 0;
  uint64_t contexts_read_ = 0;
  uint64_t latest_ = 0; // clocks of a single packet
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
