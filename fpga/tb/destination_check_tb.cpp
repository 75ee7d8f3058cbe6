// destination_check beside packet_receiver of the device model: packets to queue pairs of all services, most
// of them valid except for one field. A packet must pass with the queue pair's own number, or be dropped and
// counted for the model's reason, in order. Between bursts of packets, queue pairs are created, destroyed,
// quiesced and given other numbers, and tables change; the bench writes the RTL's tables as the control port
// does. It answers for contexts and pins. Arguments: seed, clocks.
//
// Finally sends packets without a pause, with answers at once, and prints the clocks that they take.
#include "Vdestination_check.h"
#include "destination_traffic.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vdestination_check;
using spec::PacketDrop;

constexpr uint32_t contexts = CONTEXTS;
constexpr uint32_t packet_handles = 128;
constexpr uint32_t burst = 200; // packets between changes
constexpr uint32_t first_reason = static_cast<uint32_t>(PacketDrop::unknown_queue_pair);
constexpr uint32_t last_reason = static_cast<uint32_t>(PacketDrop::time_wait);
constexpr uint32_t index_mask = (1U << spec::queue_pair_index_bits) - 1;

class Bench {
public:
  // Odd seeds use Ethernet.
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks),
        model_(contexts, seed % 2 != 0 ? spec::LinkLayer::ethernet : spec::LinkLayer::infiniband),
        traffic_(random_, model_, seed % 2 == 0, spec::ports) {}

  int run() {
    if (!model_.open())
      differ(place_, "bytes of context memory", 0, 1);
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    step();
    for (uint32_t clock = 0; rtl_.clearing; ++clock) {
      if (clock > contexts * 256 + 64)
        differ(place_, "clearing", 1, 0);
      step();
    }
    set_identifiers();
    place_.clock = 0;
    while (place_.clock < clocks_) {
      change();
      for (uint32_t left = burst; left != 0; left -= rtl_.packet_valid == 0 && begin_packet())
        go_on();
      come_to_rest();
    }
    const uint64_t clocks = place_.clock;
    stream();
    std::printf(
        "%llu packets in %llu clocks, %llu passed, %zu reasons, %llu pins refused, %llu in time-wait, "
        "a packet alone after %llu clocks\n",
        number(packets_), number(clocks), number(passed_), reasons_.size(), number(refused_),
        number(model_.counters.device.packets_dropped[last_reason]), number(latest_));
    return 0;
  }

private:
  using QueuePair = DestinationTraffic::QueuePair;
  struct Expected {
    uint32_t handle = 0;
    bool passes = false;
    unsigned underlying_function = 0;
    ParsedByModel model;
    uint64_t begun = 0;
    bool is_alone = false;
  };

  static unsigned long long number(uint64_t value) { return value; }

  // Writes a table of the RTL, as the control port does.
  void write() {
    step();
    rtl_.bind_write = rtl_.wait_write = rtl_.gid_write = rtl_.identifier_write = rtl_.key_write = 0;
  }
  void bind(uint32_t known_as, uint32_t queue_pair) {
    rtl_.bind_write = 1;
    rtl_.bind_number = known_as;
    rtl_.bind_bound = queue_pair != 0;
    rtl_.bind_queue_pair = queue_pair;
    write();
  }
  void wait(uint32_t known_as, bool waits) {
    rtl_.wait_write = 1;
    rtl_.wait_number = known_as;
    rtl_.wait_waits = waits;
    write();
  }
  void put_data(std::span<const uint8_t> bytes) { // first byte highest
    std::array<uint8_t, 16> data{};
    std::ranges::reverse_copy(bytes, data.begin());
    std::memcpy(&rtl_.write_data, data.data(), data.size());
  }
  void set_identifiers() {
    for (unsigned port = 1; port <= spec::ports; ++port)
      for (unsigned function = 0; function < DestinationModel::functions; ++function) {
        const uint16_t identifier = model_.attributes.local_identifier(port, function);
        rtl_.identifier_write = 1;
        rtl_.write_port = port - 1;
        rtl_.write_underlying_function = function;
        put_data(std::array{static_cast<uint8_t>(identifier >> 8), static_cast<uint8_t>(identifier)});
        write();
        for (uint32_t index = 0; index < spec::gid_table_entries; ++index)
          set_gid(port, function, index);
      }
    for (unsigned port = 1; port <= spec::ports; ++port)
      for (uint32_t index = 0; index < spec::partition_key_table_entries; ++index)
        set_partition_key(port, index);
  }
  void set_gid(unsigned port, unsigned function, uint32_t index) {
    const wire::Gid gid = random_.once(8) ? wire::Gid{} : some_gid(random_, random_.once(2));
    model_.attributes.set_gid(port, function, index, gid);
    rtl_.gid_write = 1;
    rtl_.write_port = port - 1;
    rtl_.write_underlying_function = function;
    rtl_.write_index = index;
    put_data(gid);
    write();
  }
  void set_partition_key(unsigned port, uint32_t index) {
    const auto key = static_cast<uint16_t>(random_.once(8) ? random_.below(2) << 15 : random_.bits());
    model_.attributes.set_partition_key(port, index, key);
    rtl_.key_write = 1;
    rtl_.write_port = port - 1;
    rtl_.write_index = index;
    put_data(std::array{static_cast<uint8_t>(key >> 8), static_cast<uint8_t>(key)});
    write();
  }

  void change() {
    for (uint32_t changes = random_.below(6); changes != 0; --changes)
      change_tables();
    while (traffic_.live.size() < 4)
      create();
    for (uint32_t changes = random_.below(8); changes != 0; --changes) {
      QueuePair& queue_pair = traffic_.some_queue_pair();
      switch (random_.below(4)) {
      case 0:
        create();
        break;
      case 1:
        destroy(queue_pair);
        break;
      case 2:
        renumber(queue_pair);
        break;
      default:
        queue_pair.is_quiescing = !queue_pair.is_quiescing;
        if (queue_pair.is_quiescing)
          model_.queue_pairs.quiesce(queue_pair.number);
        else
          model_.queue_pairs.resume(queue_pair.number);
        model_.queue_pairs.take_quiet();
      }
      if (traffic_.live.empty())
        create();
    }
    // Some time-waits end.
    model_.clock.pass(random_.below(1000) * uint64_t{1'000'000});
    std::erase_if(traffic_.waiting, [&](uint32_t known_as) {
      const bool ends = !model_.numbers.is_waiting(known_as);
      if (ends)
        wait(known_as, false);
      return ends;
    });
  }

  void change_tables() {
    if (random_.once(2))
      set_gid(traffic_.some_port(), random_.below(DestinationModel::functions),
              random_.below(spec::gid_table_entries));
    else
      set_partition_key(traffic_.some_port(), random_.below(spec::partition_key_table_entries));
  }

  void create() {
    const auto can_give = [&](uint32_t known_as) { return model_.numbers.can_give(known_as); };
    if (!model_.queue_pairs.choose_number(can_give))
      return;
    const unsigned function = random_.below(DestinationModel::functions);
    const spec::QueuePairControl control = traffic_.some_control();
    const uint32_t created = *model_.queue_pairs.create(function, control);
    model_.numbers.give(created, function, created);
    model_.numbers.describe(created, control);
    traffic_.live.push_back({.number = created, .known_as = created, .underlying_function = function});
    // One in eight is not connected yet.
    if (random_.once(8))
      return;
    model_.numbers.bind(created);
    bind(created, created);
  }

  void end(const QueuePair& queue_pair) {
    model_.numbers.end(queue_pair.known_as, hca::VirtualQueuePairs::Keep::no);
    model_.templates.forget(queue_pair.number);
    bind(queue_pair.known_as, 0);
    traffic_.give_up(queue_pair.known_as);
    if (!model_.numbers.is_waiting(queue_pair.known_as))
      return;
    traffic_.waiting.push_back(queue_pair.known_as);
    wait(queue_pair.known_as, true);
  }

  void destroy(const QueuePair& queue_pair) {
    end(queue_pair);
    model_.queue_pairs.destroy(queue_pair.number);
    std::erase_if(traffic_.live,
                  [number = queue_pair.number](const QueuePair& each) { return each.number == number; });
  }

  // Connects it again, to another peer, with another number.
  void renumber(QueuePair& queue_pair) {
    const auto another = model_.numbers.another(queue_pair.known_as, queue_pair.number);
    if (!another)
      return;
    end(queue_pair);
    const spec::QueuePairControl control = traffic_.some_control();
    spec::QueuePairControl& own =
        model_.queue_pairs.parts(queue_pair.underlying_function, queue_pair.number)->control;
    const spec::QueuePairControl before = own;
    own = control;
    own.set_valid(1);
    own.set_generation(before.generation());
    own.set_underlying_function(before.underlying_function());
    queue_pair.known_as = *another;
    model_.numbers.give(*another, queue_pair.underlying_function, queue_pair.number);
    model_.numbers.describe(*another, own);
    model_.numbers.bind(*another);
    bind(*another, queue_pair.number);
  }

  bool begin_packet() {
    const auto arriving = traffic_.some_packet_to(traffic_.some_queue_pair());
    if (arriving)
      expect_packet(*arriving);
    return arriving.has_value();
  }

  void expect_packet(const DestinationTraffic::Arriving& arriving) {
    Expected expected{.handle = random_.below(packet_handles), .model = arriving.parsed};
    const auto before = model_.counters.device.packets_dropped;
    const auto passed = model_.receive(traffic_.bytes_on_link(arriving.packet.bytes), arriving.port);
    expected.passes = passed.has_value();
    if (passed) {
      expected.underlying_function = passed->underlying_function;
      expected.model.parsed.destination_queue_pair = passed->queue_pair;
      model_.queue_pairs.unpin(passed->queue_pair);
    }
    for (uint32_t reason = 0; reason < before.size(); ++reason)
      if (model_.counters.device.packets_dropped[reason] != before[reason])
        reasons_.insert(reason);
    ++packets_;
    rtl_.packet_valid = 1;
    rtl_.packet = expected.handle;
    rtl_.packet_port = arriving.port - 1;
    put_fields(&rtl_.packet_fields[0], arriving.parsed);
    rtl_.packet_payload_bytes = arriving.parsed.parsed.payload_bytes;
    offered_ = std::move(expected);
  }

  // A clock of packets.
  void go_on() {
    if (place_.clock % 64 == 0 && !streams_) {
      take_ = std::array{10U, 50U, 100U}[random_.below(3)];
      answer_ = std::array{20U, 60U, 100U}[random_.below(3)];
    }
    rtl_.checked_ready = random_.percent(take_);
    rtl_.dropped_ready = random_.percent(take_);
    answer();
    step();
  }

  // Answers for the blocks with contexts and pins.
  void answer() {
    rtl_.read_ready = random_.percent(answer_);
    rtl_.pin_ready = random_.percent(answer_);
    rtl_.answer = !reads_.empty() && random_.percent(answer_);
    if (rtl_.answer) {
      const auto found = model_.queue_pairs.find_any(reads_.front());
      reads_.pop_front();
      rtl_.answer_found = static_cast<bool>(found);
      std::array<uint8_t, spec::QueuePairControl::bytes> bytes;
      fill(random_, bytes);
      if (found)
        std::memcpy(bytes.data(), &found->control, bytes.size());
      std::memcpy(&rtl_.answer_control, bytes.data(), bytes.size());
    }
    rtl_.pinned = !pins_.empty() && random_.percent(answer_);
    if (rtl_.pinned) {
      rtl_.pinned_done = model_.queue_pairs.pin(pins_.front());
      if (rtl_.pinned_done)
        model_.queue_pairs.unpin(pins_.front());
      model_.queue_pairs.take_quiet();
      refused_ += !rtl_.pinned_done;
      pinned_ += rtl_.pinned_done;
      pins_.pop_front();
    }
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    if (rtl_.checked_valid && rtl_.checked_ready)
      compare_checked();
    if (rtl_.dropped_valid && rtl_.dropped_ready)
      compare_dropped();
    const bool goes_in = rtl_.packet_valid && rtl_.packet_ready;
    if (goes_in) {
      offered_.begun = place_.clock;
      offered_.is_alone = checked_.empty() && dropped_.empty();
      (offered_.passes ? checked_ : dropped_).push_back(offered_);
    }
    if (rtl_.read && rtl_.read_ready)
      reads_.push_back(rtl_.read_number);
    if (rtl_.pin && rtl_.pin_ready)
      pins_.push_back(rtl_.pin_number);
    rtl_.clock = 1;
    rtl_.eval();
    ++place_.clock;
    if (goes_in)
      rtl_.packet_valid = 0;
    rtl_.answer = rtl_.pinned = 0;
  }

  void compare_checked() {
    if (checked_.empty())
      differ(place_, "packets that passed", 1, 0);
    const Expected expected = std::move(checked_.front());
    checked_.pop_front();
    ++passed_;
    expect(place_, "handle of one that passed", rtl_.checked_packet, expected.handle);
    compare_fields(place_, &rtl_.checked_fields[0], expected.model);
    expect(place_, "bytes of payload", rtl_.checked_payload_bytes, expected.model.parsed.payload_bytes);
    expect(place_, "function", rtl_.checked_underlying_function, expected.underlying_function);
    if (expected.is_alone && streams_)
      latest_ = std::max(latest_, place_.clock - expected.begun);
  }

  void compare_dropped() {
    if (dropped_.empty())
      differ(place_, "packets that were dropped", 1, 0);
    expect(place_, "handle of one that was dropped", rtl_.dropped_packet, dropped_.front().handle);
    dropped_.pop_front();
  }

  void come_to_rest() {
    const uint32_t take = take_;
    for (uint32_t clock = 0; rtl_.packet_valid || !checked_.empty() || !dropped_.empty(); ++clock) {
      if (clock > 100'000)
        differ(place_, "packets under way", checked_.size() + dropped_.size(), 0);
      go_on();
    }
    for (uint32_t clock = 0; clock < 8; ++clock)
      go_on();
    expect(place_, "pins", pinned_, passed_);
    for (uint32_t reason = first_reason; reason <= last_reason; ++reason) {
      rtl_.count_reason = reason;
      step();
      rtl_.eval();
      expect(place_, "packets dropped for a reason", rtl_.count,
             model_.counters.device.packets_dropped[reason]);
    }
    for (unsigned port = 0; port < spec::ports; ++port) {
      const auto count_of = [&](const auto& words) {
        return uint64_t{words[2 * port + 1]} << 32 | words[2 * port];
      };
      const hca::PortCounters& counters = model_.counters.device.port[port];
      expect(place_, "bad P_Keys", count_of(rtl_.bad_partition_keys), counters.bad_partition_keys);
      expect(place_, "bad Q_Keys", count_of(rtl_.bad_queue_keys), counters.bad_queue_keys);
    }
    take_ = take;
  }

  void stream() {
    streams_ = true;
    take_ = answer_ = 100;
    constexpr uint32_t count = 500;
    const uint64_t begin = place_.clock;
    for (uint32_t left = count; left != 0;) {
      while (rtl_.packet_valid == 0)
        left -= begin_packet();
      go_on();
    }
    std::printf("%u packets in %llu clocks\n", count, number(place_.clock - begin));
    come_to_rest();
    while (!begin_packet() || !offered_.passes)
      come_to_rest();
    come_to_rest();
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  DestinationModel model_;
  DestinationTraffic traffic_;
  Expected offered_;
  std::deque<Expected> checked_; // packets that will pass, and that will not, each in order
  std::deque<Expected> dropped_;
  std::deque<uint32_t> reads_;
  std::deque<uint32_t> pins_;
  uint32_t take_ = 100;
  uint32_t answer_ = 100;
  bool streams_ = false;
  std::set<uint32_t> reasons_;
  uint64_t packets_ = 0;
  uint64_t passed_ = 0;
  uint64_t pinned_ = 0;
  uint64_t refused_ = 0;
  uint64_t latest_ = 0; // clocks of a single packet, with answers at once
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
