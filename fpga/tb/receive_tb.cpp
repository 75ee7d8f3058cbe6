// receive beside the device model: packets of every opcode come to queue pairs of all services, most of them
// right, with lost, repeated, reordered and wrong ones; queue pairs fail, are flushed, wait to be destroyed,
// or go with their function. The bench answers for contexts, pins and receive work requests at random times.
// RTL works on a queue pair when it reads its context: the model then takes the same step with the same
// context, and all outputs must be the model's, in the order of each queue pair. Arguments: seed, clocks.
//
// At the end packets arrive without pauses, for one queue pair and for many; it prints the clocks that they
// take.
#include "Vreceive.h"
#include "beats.h"
#include "parsed_packets.h"
#include "receive_records.h"
#include "receiving_queue_pairs.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vreceive;
using spec::QueuePairState;
using spec::ReceiveAction;
using Left = ModelReceive::Left;

constexpr uint32_t contexts = CONTEXTS;
constexpr uint32_t buffers = BUFFERS;
constexpr uint32_t functions = ReceivingQueuePairs::functions;
constexpr uint32_t queue_pairs = std::min(contexts - 2, 24U); // two indices are reserved
constexpr uint64_t time_limit = 20'000;                       // clocks

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks), model_(contexts), traffic_(random_) {
    for (uint32_t handle = 0; handle < buffers; ++handle)
      free_.push_back(handle);
  }

  int run() {
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; rtl_.clearing || clock < 4; ++clock) {
      if (clock > 2048)
        differ(place_, "clearing", 1, 0);
      step();
    }
    for (uint32_t at = 0; at < queue_pairs; ++at)
      pairs_.create();
    place_.clock = 0;
    while (place_.clock < clocks_) {
      if (place_.clock % 256 == 0)
        choose();
      change();
      offer();
      go_on();
      if (place_.clock % 4096 == 4095)
        come_to_rest();
    }
    come_to_rest();
    report();
    stream(spec::PacketOpcode::reliable_connection_rdma_write_only, 1);
    stream(spec::PacketOpcode::reliable_connection_rdma_write_only, std::min(queue_pairs, 16U));
    stream(spec::PacketOpcode::reliable_connection_send_only, 1);
    stream(spec::PacketOpcode::reliable_connection_send_only, std::min(queue_pairs, 16U));
    return 0;
  }

private:
  struct Answer {
    bool is_found = false;
    spec::QueuePairControl control;
    spec::QueuePairResponder responder;
    uint64_t due = 0;
  };
  struct Question {
    ReceivingQueuePair* of = nullptr;
    uint64_t due = 0;
  };
  struct Pace {
    uint32_t ready = 100; // probability per clock, in percent
    uint32_t accepts = 100;
    uint32_t packets = 100;
    uint32_t latency = 1; // of contexts and receive work requests; maximum, in clocks
    uint32_t answers = 1; // by other blocks; probability per clock, in percent
  };

  static unsigned long long number(uint64_t value) { return value; }

  ReceivingQueuePair& some_queue_pair() {
    return *pairs_.live[random_.below(std::min(focus_, static_cast<uint32_t>(pairs_.live.size())))];
  }

  // Stimulus.

  void choose() {
    pace_ = {.ready = std::array{10U, 60U, 100U, 100U}[random_.below(4)],
             .accepts = std::array{3U, 60U, 100U}[random_.below(3)],
             .packets = std::array{5U, 50U, 100U}[random_.below(3)],
             .latency = std::array{1U, 8U, 60U}[random_.below(3)],
             .answers = std::array{1U, 20U, 100U}[random_.below(3)]};
    focus_ = std::array{1U, 3U, queue_pairs}[random_.below(3)];
    std::swap(pairs_.live[0], pairs_.live[random_.below(static_cast<uint32_t>(pairs_.live.size()))]);
  }

  void change() {
    if (random_.once(40))
      begin_flush();
    if (random_.once(12'000) && flushed_ == nullptr)
      pairs_.reset_function(random_.below(functions));
    ReceivingQueuePair& of = some_queue_pair();
    if (of.is_gone) {
      if (ReceivingQueuePairs::is_idle(of) && of.accepted.empty() && of.dropped.empty())
        pairs_.create_again(of);
      return;
    }
    pairs_.answer_for_others(of, pace_.answers);
    if (random_.once(16))
      pairs_.set_any_time(pairs_.control(of));
    if (random_.once(800))
      pairs_.control(of).set_state(QueuePairState::error);
    if (random_.once(1600))
      pairs_.control(of).set_destroying(1);
    of.refuses_pins = random_.once(10);
    if (ReceivingQueuePairs::is_idle(of) && place_.clock > of.written_by &&
        random_.once(pairs_.receives(of) ? 60 : 4))
      pairs_.begin_anew(of);
  }

  // Only while RTL has no other request for the context of the queue pair, so that the bench can tell which
  // request is the flush's.
  void begin_flush() {
    ReceivingQueuePair& of = some_queue_pair();
    if (flushed_ != nullptr || of.is_gone || !rtl_.flush_ready || rtl_.flush_valid || rtl_.packet_valid ||
        place_.clock <= of.written_by ||
        !(ReceivingQueuePairs::is_idle(of) || (of.is_waiting && !of.fetched && !is_offered(of))))
      return;
    if (!random_.once(4))
      pairs_.control(of).set_state(QueuePairState::error);
    flushed_ = &of;
    of.flush_begins = true;
    flush_settles_ = 0;
    put(rtl_.flush, ModelReceive::notice(of.function, of.number, spec::QueuePairNoticeKind::flush));
    rtl_.flush_valid = 1;
  }
  bool is_offered(const ReceivingQueuePair& of) const { return rtl_.fetched_valid && offered_answer_ == &of; }

  void offer() {
    if (rtl_.packet_valid || free_.empty() || !random_.percent(pace_.packets))
      return;
    ReceivingQueuePair& to = some_queue_pair();
    if (to.is_gone || flushed_ == &to || pairs_.control(to).destroying())
      return;
    // A peer that gets a NAK goes back.
    const spec::QueuePairResponder responder = pairs_.model_responder(to);
    if (ReceivingQueuePairs::is_idle(to) && !random_.once(8))
      ReceiveTraffic::resume(to, responder);
    else if ((!pairs_.receives(to) || responder.nak_sent()) && !random_.once(16))
      return;
    put_packet(to, traffic_.some_packet(to, pairs_.control(to)), random_.once(200) ? 1 : 0);
  }

  void put_packet(ReceivingQueuePair& to, const wire::ParsedPacket& parsed, uint32_t other_function) {
    const auto packet = model_.packets.allocate(hca::PacketUse::receive);
    if (!packet)
      differ(place_, "packets of the model", buffers - free_.size(), spec::receive_packet_buffers);
    hca::Packet& arrived = model_.packets[*packet];
    arrived.begin = 0;
    arrived.payload = 128;
    arrived.end = 128 + parsed.payload_bytes;
    arrived.payload_bytes = parsed.payload_bytes;
    arrived.parsed = parsed;
    arrived.answer_psn = ReceiveRecords::never_answered;
    if (!model_.queue_pairs.pin(to.number))
      differ(place_, "pins of the model", 1, 0);
    const ReceivingQueuePair::Unit unit{.function = (to.function + other_function) % functions,
                                        .handle = free_.front(),
                                        .model_packet = *packet};
    free_.pop_front();
    to.units.push_back(unit);
    ParsedByModel fields{.parsed = parsed};
    rtl_.packet_valid = 1;
    rtl_.packet = unit.handle;
    put_fields(&rtl_.packet_fields[0], fields);
    rtl_.packet_payload_bytes = parsed.payload_bytes;
    rtl_.packet_underlying_function = unit.function;
    ++packets_;
  }

  template <class To, class From> static void put(To& to, const From& from) {
    static_assert(sizeof to == sizeof from);
    std::memcpy(&to, &from, sizeof to);
  }
  template <class To, class From> static To get(const From& from) {
    To to;
    static_assert(sizeof to == sizeof from);
    std::memcpy(&to, &from, sizeof to);
    return to;
  }

  // A clock.

  void go_on() {
    rtl_.accepted_ready = random_.percent(pace_.accepts);
    rtl_.wanted_ready = random_.percent(pace_.ready);
    rtl_.dropped_ready = random_.percent(pace_.ready);
    rtl_.event_ready = random_.percent(pace_.ready);
    rtl_.read_ready = random_.percent(pace_.ready) && place_.clock >= next_read_;
    rtl_.pin_ready = random_.percent(pace_.ready);
    rtl_.answer = !answers_.empty() && answers_.front().due <= place_.clock;
    if (rtl_.answer) {
      rtl_.answer_found = answers_.front().is_found;
      put(rtl_.answer_control, answers_.front().control);
      put(rtl_.answer_responder, answers_.front().responder);
      answers_.pop_front();
    }
    rtl_.pinned = pinning_ != nullptr && random_.percent(pace_.ready);
    if (rtl_.pinned) {
      rtl_.pinned_done = !pinning_->refuses_pins;
      if (!rtl_.pinned_done) {
        pinning_->flush_begins = false;
        ++pins_refused_;
      }
      pinning_ = nullptr;
    }
    if (!rtl_.fetched_valid)
      answer_question();
    step();
    // From here on the bench knows whether the flush waits in its list.
    if (flushed_ != nullptr && !flushed_->flush_begins && rtl_.flush_ready && !rtl_.flush_valid &&
        ++flush_settles_ > 2)
      flushed_ = nullptr;
  }

  void answer_question() {
    const auto due = std::ranges::find_if(questions_, [&](const Question& question) {
      return question.due <= place_.clock && !question.of->flush_begins;
    });
    if (due == questions_.end())
      return;
    ReceivingQueuePair& of = *due->of;
    questions_.erase(due);
    const bool is_taken = streams_ || random_.percent(of.units.front().is_flush ? 60 : 80);
    if (is_taken && !of.is_gone) {
      spec::QueuePairResponder taken = pairs_.model_responder(of);
      taken.set_receive_entry_number(static_cast<uint32_t>(random_.bits() & 0xffff));
      taken.set_receive_entry_offset(static_cast<uint32_t>(random_.bits()));
      taken.set_receive_entry_length(random_.below(1024));
      pairs_.put_model(of, taken);
      set_descriptor(of.rtl, taken);
    }
    rtl_.fetched_valid = 1;
    offered_answer_ = &of;
    offered_is_taken_ = is_taken;
    put(rtl_.fetched, ModelReceive::notice(of.function, of.number,
                                           is_taken ? spec::QueuePairNoticeKind::descriptor_taken
                                                    : spec::QueuePairNoticeKind::no_descriptor));
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    std::optional<ReceivingQueuePair::Accepted> accepted;
    const bool goes_in = rtl_.packet_valid && rtl_.packet_ready;
    const bool flush_goes_in = rtl_.flush_valid && rtl_.flush_ready;
    const bool answer_goes_in = rtl_.fetched_valid && rtl_.fetched_ready;
    if (!rtl_.reset) {
      if (rtl_.receive_write)
        take_write();
      if (rtl_.read && rtl_.read_ready)
        take_read();
      if (rtl_.pin && rtl_.pin_ready) {
        pinning_ = &pairs_.at(rtl_.pin_number, "queue pair of a pin");
        expect(place_, "a pin for a flush", pinning_ == flushed_, 1);
      }
      if (rtl_.wanted_valid && rtl_.wanted_ready)
        compare_wanted();
      if (rtl_.dropped_valid && rtl_.dropped_ready)
        compare_dropped();
      if (rtl_.event_valid && rtl_.event_ready)
        compare_event();
      if (rtl_.accepted_valid && rtl_.accepted_ready)
        accepted = compare_accepted();
    }
    uint32_t reader = 0;
    if (accepted) {
      reader = random_.below(RECORD_READERS);
      rtl_.record_packet = 0;
      for (uint32_t each = 0; each < RECORD_READERS; ++each)
        rtl_.record_packet |= (each == reader ? accepted->unit.handle : random_.below(buffers))
                              << each * packet_width();
      rtl_.eval();
    }
    rtl_.clock = 1;
    rtl_.eval();
    ++place_.clock;
    if (accepted && !accepted->unit.is_flush) {
      records_.compare(rtl_.record, *accepted, reader);
      free_.push_back(accepted->unit.handle);
    }
    if (goes_in)
      rtl_.packet_valid = 0;
    if (flush_goes_in)
      rtl_.flush_valid = 0;
    if (answer_goes_in) {
      rtl_.fetched_valid = 0;
      offered_answer_->fetched = offered_is_taken_;
    }
    rtl_.answer = rtl_.pinned = 0;
  }
  static constexpr uint32_t packet_width() {
    uint32_t width = 0;
    while (1U << width < buffers)
      ++width;
    return width;
  }

  // RTL reads a context and processes the unit, and the model does the same.

  void take_read() {
    ReceivingQueuePair& of = pairs_.at(rtl_.read_number, "queue pair of a context");
    next_read_ = streams_ ? place_.clock + 2 : 0;
    Answer answer{.is_found = !of.is_gone};
    std::array<uint8_t, sizeof answer.control> noise;
    fill(random_, noise);
    std::memcpy(&answer.control, noise.data(), sizeof answer.control);
    if (!of.is_gone) {
      answer.control = pairs_.control(of);
      pairs_.compare_context(of);
    }
    answer.responder = of.rtl.responder;
    const uint64_t least = place_.clock + (streams_ ? context_clocks : 1 + random_.below(pace_.latency));
    answer.due = answers_.empty() ? least : std::max(least, answers_.back().due + 1);
    answers_.push_back(answer);
    of.written_by = answer.due + clocks_to_write;
    work(of);
  }

  void work(ReceivingQueuePair& of) {
    if (of.flush_begins && (of.units.empty() || (of.is_waiting && !of.fetched))) {
      of.flush_begins = false;
      if (!of.is_gone && pairs_.control(of).state() == QueuePairState::error)
        of.units.push_back({.is_flush = true, .function = of.function});
      else
        ++of.ignored;
      return;
    }
    if (of.units.empty() || (of.is_waiting && !of.fetched))
      differ(place_, "work for a context", 0, 1);
    const ReceivingQueuePair::Unit unit = of.units.front();
    const wire::ParsedPacket& parsed = model_.packets[unit.model_packet].parsed;
    if (!of.is_searching && !of.fetched && !unit.is_flush && pairs_.is_searched_for(of, unit)) {
      of.is_searching = true;
      ++searches_;
      return;
    }
    const size_t events = model_.events.events.size();
    ModelReceive::Outcome outcome;
    if (of.fetched)
      outcome = of.receive.take_fetched(unit.function, of.number, *of.fetched);
    else if (unit.is_flush)
      outcome = of.receive.take_flush(unit.function, of.number);
    else
      outcome = of.receive.take_packet(unit.model_packet, unit.function, of.number);
    // A destroyed queue pair has no flush that the model could begin: the flush ends.
    if (unit.is_flush && outcome.left == Left::dropped) {
      outcome.left = Left::accepted;
      outcome.unit.set_packet(hca::no_packet);
      outcome.unit.set_action(ReceiveAction::flush);
    }
    of.events += static_cast<uint32_t>(model_.events.events.size() - events);
    passed_ += of.fetched && !unit.is_flush && outcome.left == Left::accepted && !pairs_.receives(of);
    lost_ += outcome.left == Left::dropped && pairs_.receives(of) &&
             pairs_.control(of).service_type() != spec::ServiceType::reliable_connection;
    exposed_ += outcome.left == Left::accepted && !unit.is_flush && pairs_.exposes(unit);
    of.is_searching = false;
    of.is_waiting = outcome.left == Left::wanted;
    of.fetched.reset();
    opcodes_[static_cast<size_t>(parsed.fields.opcode)] += !unit.is_flush;
    if (outcome.left == Left::wanted) {
      ++of.wanted;
      return;
    }
    of.units.pop_front();
    if (outcome.left == Left::accepted)
      expect_accepted(of, unit, outcome.unit);
    else
      of.dropped.push_back(unit);
  }

  void expect_accepted(ReceivingQueuePair& of, const ReceivingQueuePair::Unit& unit,
                       const spec::ReceiveUnit& accepted) {
    ReceivingQueuePair::Accepted expected{.unit = unit, .action = accepted.action()};
    if (!unit.is_flush) {
      expected.record = model_.packets[unit.model_packet];
      model_.packets.release(unit.model_packet);
    }
    model_.queue_pairs.unpin(of.number);
    of.accepted.push_back(expected);
  }

  void take_write() {
    ReceivingQueuePair& of = pairs_.at(rtl_.receive_number, "queue pair of a write");
    set_receive(of.rtl, get<spec::QueuePairResponder>(rtl_.receive_responder));
  }

  // Compares the units that leave.

  void compare_wanted() {
    const auto notice = get<spec::QueuePairNotice>(rtl_.wanted);
    ReceivingQueuePair& of = pairs_.at(notice.queue_pair_number(), "queue pair of a question");
    if (of.wanted == 0)
      differ(place_, "questions", 1, 0);
    --of.wanted;
    expect(place_, "function of a question", notice.underlying_function(), of.units.front().function);
    expect(place_, "kind of a question", static_cast<uint64_t>(notice.kind()),
           static_cast<uint64_t>(spec::QueuePairNoticeKind::take_descriptor));
    ++wanted_;
    questions_.push_back(
        {.of = &of, .due = place_.clock + (streams_ ? descriptor_clocks : 1 + random_.below(pace_.latency))});
  }

  void compare_dropped() {
    ReceivingQueuePair& of = pairs_.at(rtl_.dropped_number, "queue pair of what is dropped");
    if (!rtl_.dropped_has_packet) {
      if (of.ignored == 0)
        differ(place_, "flushes that are ignored", 1, 0);
      --of.ignored;
      ++ignored_;
      return;
    }
    if (of.dropped.empty())
      differ(place_, "packets that are dropped", 1, 0);
    expect(place_, "packet that is dropped", rtl_.dropped_packet, of.dropped.front().handle);
    free_.push_back(of.dropped.front().handle);
    of.dropped.pop_front();
    ++dropped_;
  }

  void compare_event() {
    const auto event = get<spec::EventUnit>(rtl_.event_unit);
    ReceivingQueuePair& of = pairs_.at(static_cast<uint32_t>(event.object()), "queue pair of an event");
    if (of.events == 0)
      differ(place_, "events", 1, 0);
    --of.events;
    spec::EventUnit expected;
    expected.set_type(spec::EventType::communication_established);
    expected.set_underlying_function(of.function);
    expected.set_object(of.number);
    expect(place_, "an event", std::memcmp(&event, &expected, sizeof event), 0);
    ++events_;
  }

  ReceivingQueuePair::Accepted compare_accepted() {
    const auto unit = get<spec::ReceiveUnit>(rtl_.accepted);
    ReceivingQueuePair& of =
        pairs_.at(static_cast<uint32_t>(unit.queue_pair_number()), "queue pair accepted");
    if (of.accepted.empty())
      differ(place_, "requests accepted", 1, 0);
    const ReceivingQueuePair::Accepted expected = of.accepted.front();
    of.accepted.pop_front();
    expect(place_, "action", static_cast<uint64_t>(unit.action()), static_cast<uint64_t>(expected.action));
    expect(place_, "packet accepted", unit.packet(),
           expected.unit.is_flush ? hca::no_packet : expected.unit.handle);
    expect(place_, "function accepted", unit.underlying_function(), expected.unit.function);
    const bool is_resource =
        expected.action == ReceiveAction::rdma_read || expected.action == ReceiveAction::atomic;
    of.resources += is_resource && !expected.record.duplicate;
    of.repeated_reads += expected.action == ReceiveAction::rdma_read && expected.record.duplicate;
    ++actions_[static_cast<size_t>(expected.action)];
    ++accepted_;
    return expected;
  }

  // At rest.

  bool is_at_rest() const {
    return !rtl_.packet_valid && !rtl_.fetched_valid && flushed_ == nullptr &&
           std::ranges::all_of(pairs_.live, [](const auto& each) {
             return ReceivingQueuePairs::is_idle(*each) && each->accepted.empty() && each->dropped.empty() &&
                    each->ignored == 0 && each->wanted == 0 && each->events == 0;
           });
  }

  void come_to_rest() {
    for (uint64_t clock = 0; !is_at_rest(); ++clock) {
      if (clock > time_limit)
        differ(place_, "units under way", 1, 0);
      go_on();
    }
    for (uint32_t clock = 0; clock < 16; ++clock)
      go_on();
    expect(place_, "buffers that are free", free_.size(), buffers);
    expect(place_, "packets of the model", model_.packets.used(hca::PacketUse::receive), 0);
    pairs_.verify();
    for (uint32_t function = 0; function < functions; ++function)
      for (uint32_t duplicates = 0; duplicates < 2; ++duplicates) {
        rtl_.count_duplicates = duplicates;
        rtl_.count_underlying_function = function;
        step();
        rtl_.eval();
        const hca::FunctionCounters& counters = model_.counters.function[function];
        expect(place_, duplicates ? "duplicates" : "packets dropped", rtl_.count,
               duplicates ? counters.requests_duplicate : counters.requests_dropped);
      }
  }

  void report() {
    uint32_t opcodes = 0;
    for (const uint64_t count : opcodes_)
      opcodes += count != 0;
    std::printf("%llu packets in %llu clocks, %u opcodes: ", number(packets_), number(place_.clock), opcodes);
    static constexpr std::array names{"SEND",         "RDMA WRITE", "RDMA READ", "atomic",
                                      "acknowledged", "refused",    "flushed"};
    for (size_t action = 0; action < names.size(); ++action)
      std::printf("%llu %s, ", number(actions_[action]), names[action]);
    std::printf(
        "%llu dropped, %llu lost, %llu RNR, %llu out of sequence, %llu invalid, %llu kept, %llu passed, "
        "%llu exposed, %llu searched, %llu repeated, %llu wanted, %llu established, %llu ignored, %llu pins "
        "refused, %llu resets\n",
        number(dropped_), number(lost_), number(records_.not_ready), number(records_.out_of_sequence),
        number(records_.invalid), number(records_.kept), number(passed_), number(exposed_), number(searches_),
        number(records_.repeated), number(wanted_), number(events_), number(ignored_), number(pins_refused_),
        number(pairs_.resets));
  }

  // Sends this number of packets back to back, 64 B each.
  void stream(spec::PacketOpcode opcode, uint32_t among) {
    constexpr uint32_t count = 400;
    streams_ = true;
    pace_ = {};
    pairs_.make_ready();
    const uint64_t begun = place_.clock;
    const uint64_t accepted = accepted_;
    for (uint32_t at = 0; at < count;) {
      if (!rtl_.packet_valid && !free_.empty()) {
        ReceivingQueuePair& to = *pairs_.live[at++ % among];
        put_packet(to, traffic_.whole_packet(to, opcode, 64), 0);
      }
      go_on();
    }
    while (accepted_ != accepted + count)
      go_on();
    std::printf("%u packets %s a receive work request to %u queue pairs: %llu clocks\n", count,
                opcode == spec::PacketOpcode::reliable_connection_send_only ? "with" : "without", among,
                number(place_.clock - begun));
    come_to_rest();
  }

  static constexpr uint64_t context_clocks = 6;     // of queue_pair_contexts
  static constexpr uint64_t descriptor_clocks = 12; // a descriptor_fetch that has prefetched
  static constexpr uint64_t clocks_to_write = 8;    // at most, from the context on

  Random random_;
  Place place_;
  uint64_t clocks_;
  Rtl rtl_;
  ReceiveModel model_;
  ReceiveTraffic traffic_;
  ReceivingQueuePairs pairs_{place_, random_, model_};
  ReceiveRecords records_{place_};
  Pace pace_;
  uint32_t focus_ = queue_pairs;
  bool streams_ = false;
  std::deque<uint32_t> free_; // handles
  std::deque<Answer> answers_;
  std::deque<Question> questions_;
  ReceivingQueuePair* flushed_ = nullptr;
  ReceivingQueuePair* pinning_ = nullptr;
  ReceivingQueuePair* offered_answer_ = nullptr;
  bool offered_is_taken_ = false;
  uint32_t flush_settles_ = 0;
  uint64_t next_read_ = 0;

  uint64_t packets_ = 0, accepted_ = 0, dropped_ = 0, lost_ = 0, passed_ = 0, exposed_ = 0, searches_ = 0,
           wanted_ = 0, events_ = 0, ignored_ = 0, pins_refused_ = 0;
  std::array<uint64_t, 7> actions_{};
  std::array<uint64_t, 256> opcodes_{};
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
