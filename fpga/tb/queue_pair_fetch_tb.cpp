// queue_pair_fetch beside the device model: commands, notices and units that the scheduler has served arrive
// for queue pairs of all services and states, with numbers near all limits, while completion goes on. RTL
// reports the order in which units enter; the model takes each when RTL reads its context. Both must have the
// same effects: units of each link in order, plans, failures, pins, counts, and the context that the next
// unit of the queue pair reads. Between two bursts queue pairs are created, destroyed and changed. The bench
// answers for commands, contexts and pins. Arguments: seed, clocks.
//
// At the end commands arrive without pauses, with immediate answers of the bench, which prints the clocks
// that they take.
#include "queue_pair_fetch_outcomes.h"
#include "queue_pair_fetch_traffic.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <span>
#include <utility>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vqueue_pair_fetch;

constexpr uint32_t contexts = CONTEXTS;
constexpr uint32_t buffer_count = BUFFERS;
constexpr uint32_t burst = 60; // units between changes

enum class Kind : uint8_t { done, progress, notice, resume, command };

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks), model_(contexts, buffer_count),
        traffic_(random_, model_) {
    for (uint32_t buffer = 0; buffer < buffer_count; ++buffer)
      outcomes_.free_buffers.push_back(static_cast<uint16_t>(buffer));
  }

  int run() {
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    step();
    for (uint32_t clock = 0; rtl_.clearing; ++clock) {
      if (clock > 4096)
        differ(place_, "clearing", 1, 0);
      step();
    }
    place_.clock = 0;
    while (place_.clock < clocks_) {
      change();
      // Few units at a time find the context for which they were made; many fill the lists.
      const uint32_t most = std::array{3U, 6U, burst}[random_.below(3)];
      for (uint32_t left = burst; left != 0; go_on())
        if (units_under_way() < most)
          left -= begin_unit();
      come_to_rest();
    }
    const uint64_t clocks = place_.clock;
    streams_ = true;
    take_ = answer_ = 100;
    prepare_stream();
    stream(1);
    stream(static_cast<uint32_t>(traffic_.live.size()));
    take_one();
    std::printf("%llu units in %llu clocks, %llu not pinned, ", number(units_), number(clocks),
                number(not_pinned_));
    outcomes_.print();
    return 0;
  }

private:
  using QueuePair = FetchTraffic::QueuePair;
  struct Entered {
    Kind kind = Kind::done;
    uint64_t clock = 0;
  };
  struct Answer {
    bool found = false;
    hca::QueuePairParts parts;
    spec::QueuePairControl control;
    spec::QueuePairRequester requester;
  };
  struct Resumed {
    uint32_t number = 0;
    unsigned underlying_function = 0;
    uint32_t queue_pair_number() const { return number; }
  };
  static unsigned long long number(uint64_t value) { return value; }
  static uint32_t place_of(uint32_t queue_pair_number) { return FetchOutcomes::place_of(queue_pair_number); }

  // At rest.

  void change() {
    records_on_ = random_.below(1U << FetchModel::functions);
    model_.set_records_on(0xffff);
    model_.set_records_on(records_on_);
    rtl_.records_on = records_on_;
    for (uint32_t changes = random_.below(4); changes != 0; --changes)
      change_handles();
    while (traffic_.live.size() < std::min(contexts / 2, 4U + random_.below(9)))
      create();
    for (uint32_t changes = random_.below(6); changes != 0; --changes) {
      QueuePair& queue_pair = traffic_.some_queue_pair();
      switch (random_.below(4)) {
      case 0:
        create();
        break;
      case 1:
        if (traffic_.live.size() > 2)
          destroy(queue_pair);
        break;
      default:
        queue_pair.is_quiescing = random_.once(6);
        if (queue_pair.is_quiescing)
          model_.queue_pairs.quiesce(queue_pair.number);
        else
          model_.queue_pairs.resume(queue_pair.number);
      }
    }
    forget_quiet();
    for (const QueuePair& queue_pair : traffic_.live) {
      hca::QueuePairParts& own = traffic_.parts(queue_pair);
      if (random_.once(2) || own.control.state() == spec::QueuePairState::error) {
        own.control.set_state(traffic_.some_state());
        own.control.set_send_error(random_.once(16));
        own.control.set_destroying(random_.once(24));
      }
      if (random_.once(2) || traffic_.is_stuck(queue_pair))
        traffic_.shuffle_requester(queue_pair);
      outcomes_.context(queue_pair.number) = {.control = own.control,
                                              .requester = own_fields(&own.requester)};
    }
  }

  void forget_quiet() {
    while (model_.queue_pairs.take_quiet()) {
    }
    while (model_.queue_pairs.take_ended()) {
    }
  }

  void create() {
    const unsigned function = random_.below(FetchModel::functions);
    const auto created = model_.queue_pairs.create(function, traffic_.some_control());
    if (!created)
      return;
    traffic_.live.push_back({.number = *created, .underlying_function = function});
    traffic_.shuffle_requester(traffic_.live.back());
  }

  void destroy(const QueuePair& queue_pair) {
    if (model_.queue_pairs.pins(queue_pair.number) != 0)
      return;
    gone_ = queue_pair.number;
    forget_quiet();
    model_.queue_pairs.destroy(queue_pair.number);
    std::erase_if(traffic_.live,
                  [number = queue_pair.number](const QueuePair& each) { return each.number == number; });
  }

  void change_handles() {
    if (traffic_.handles.size() > HANDLES / 2 || (!traffic_.handles.empty() && random_.once(4))) {
      const auto at = random_.below(static_cast<uint32_t>(traffic_.handles.size()));
      write_handle(traffic_.handles[at], false, {});
      model_.address_handles.destroy(traffic_.handles[at].number);
      traffic_.handles.erase(traffic_.handles.begin() + at);
      return;
    }
    hca::AddressHandle handle{.protection_domain = traffic_.some_domain(), .address_vector = {}};
    for (uint8_t& byte :
         std::span(reinterpret_cast<uint8_t*>(&handle.address_vector), sizeof handle.address_vector))
      byte = static_cast<uint8_t>(random_.bits());
    handle.address_vector.set_port(1 + random_.below(spec::ports));
    const unsigned function = random_.below(FetchModel::functions);
    traffic_.handles.push_back(
        {.number = *model_.address_handles.create(function, handle), .underlying_function = function});
    write_handle(traffic_.handles.back(), true, handle);
  }
  void write_handle(const FetchTraffic::Handle& handle, bool is_valid, const hca::AddressHandle& written) {
    if ((handle.number & 0xffff) >= HANDLES)
      differ(place_, "index of an address handle", handle.number, HANDLES);
    rtl_.handle_write = 1;
    rtl_.handle_number = handle.number;
    rtl_.handle_valid = is_valid;
    rtl_.handle_underlying_function = handle.underlying_function;
    rtl_.handle_protection_domain = written.protection_domain;
    std::memcpy(&rtl_.handle_address_vector, &written.address_vector, sizeof written.address_vector);
    step();
    rtl_.handle_write = 0;
  }

  // Arriving units.

  bool begin_unit() {
    const QueuePair& queue_pair = traffic_.some_queue_pair();
    if (random_.once(3))
      traffic_.shuffle_completion(queue_pair, random_.once(2));
    uint32_t named = queue_pair.number;
    if (random_.once(24))
      named = random_.once(2) ? gone_ : named ^ (1U << random_.below(24));
    const unsigned function =
        random_.once(24) ? random_.below(FetchModel::functions) : queue_pair.underlying_function;
    const bool is_whose = named == queue_pair.number && function == queue_pair.underlying_function;
    switch (random_.below(8)) {
    case 0:
      return begin_progress(named, function);
    case 1:
      return begin_notice(queue_pair, named, function);
    case 2:
      return begin_done(is_whose ? 0 : named, function);
    case 3:
      return !random_.once(4) ? begin_done(0, function) : begin_resume(named, function);
    default:
      return begin_command(queue_pair, named, function);
    }
  }

  bool begin_progress(uint32_t named, unsigned function) {
    if (rtl_.progress_notice)
      return false;
    spec::QueuePairNotice unit;
    unit.set_queue_pair_number(named);
    unit.set_underlying_function(function);
    unit.set_kind(static_cast<spec::QueuePairNoticeKind>(random_.below(2)));
    std::memcpy(&rtl_.progress_notice_unit, &unit, sizeof unit);
    rtl_.progress_notice = 1;
    progress_.push_back(unit);
    return true;
  }

  uint16_t near_next(const QueuePair& queue_pair) {
    const hca::QueuePairParts& own = traffic_.parts(queue_pair);
    const uint32_t next = own.requester.next();
    const uint32_t entries = 1U << own.control.send_queue_log2();
    switch (random_.below(24)) {
    case 0:
      return static_cast<uint16_t>(next + entries - random_.below(2));
    case 1:
    case 2:
      return static_cast<uint16_t>(next - 1 - random_.below(3));
    case 3:
      return static_cast<uint16_t>(random_.once(3) ? random_.bits() : next + entries - 1);
    default:
      return static_cast<uint16_t>(next + random_.below(4));
    }
  }

  bool begin_notice(const QueuePair& queue_pair, uint32_t named, unsigned function) {
    if (rtl_.post_notice)
      return false;
    spec::PostNotice unit;
    unit.set_queue_pair_number(named);
    unit.set_underlying_function(function);
    unit.set_slot(
        static_cast<uint32_t>(random_.once(8) ? spec::DoorbellSlot::stop : spec::DoorbellSlot::start));
    unit.set_send_queue_sequence_number(near_next(queue_pair));
    std::memcpy(&rtl_.post_notice_unit, &unit, sizeof unit);
    rtl_.post_notice = 1;
    notices_.push_back(unit);
    return true;
  }

  // `named`: 0: a scheduled one; otherwise a number of no live queue pair.
  bool begin_done(uint32_t named, unsigned function) {
    if (rtl_.schedule_done)
      return false;
    spec::ScheduleDone unit;
    uint32_t fetched = random_.below(65536);
    if (named == 0) {
      if (outcomes_.to_serve.empty())
        return false;
      const spec::ScheduleRequest request = outcomes_.to_serve.front();
      outcomes_.to_serve.pop_front();
      named = request.queue_pair_number();
      function = request.underlying_function();
      if (const auto found = model_.queue_pairs.find(function, named); found && !random_.once(8))
        fetched = found->requester.fetch_next() + random_.below(4);
    } else if (model_.queue_pairs.find_any(named))
      return false;
    unit.set_queue_pair_number(named);
    unit.set_underlying_function(function);
    unit.set_fetch_next(fetched & 0xffff);
    if (random_.once(16))
      unit.set_refusal(random_.once(2) ? spec::Refusal::checksum_mismatch
                                       : static_cast<spec::Refusal>(1 + random_.below(19)));
    std::memcpy(&rtl_.schedule_done_unit, &unit, sizeof unit);
    rtl_.schedule_done = 1;
    dones_.push_back(unit);
    return true;
  }

  bool begin_resume(uint32_t named, unsigned function) {
    if (rtl_.resume)
      return false;
    rtl_.resume = 1;
    rtl_.resume_number = named;
    rtl_.resume_underlying_function = function;
    resumes_.push_back({.number = named, .underlying_function = function});
    return true;
  }

  bool begin_command(const QueuePair& queue_pair, uint32_t named, unsigned function) {
    if (rtl_.kick_started || !rtl_.kick_started_credit)
      return false;
    // The scheduler fetches the commands that it owes.
    const bool owes = traffic_.owes(queue_pair) != random_.once(6);
    const auto origin = random_.once(12) ? spec::KickOrigin::send_queue_mode
                        : owes           ? spec::KickOrigin::scheduled
                                         : spec::KickOrigin::collected;
    return offer_command(queue_pair, named, function, origin, next_for(queue_pair));
  }
  // The number that follows from the previous commands, or one near it.
  uint16_t next_for(const QueuePair& queue_pair) {
    if (random_.once(8))
      return near_next(queue_pair);
    const auto waiting = static_cast<uint32_t>(commands_[place_of(queue_pair.number)].size());
    return static_cast<uint16_t>(traffic_.parts(queue_pair).requester.next() +
                                 (random_.once(3) ? 0 : waiting));
  }
  bool offer_command(const QueuePair& queue_pair, uint32_t named, unsigned function, spec::KickOrigin origin,
                     uint16_t sequence_number) {
    spec::KickUnit unit;
    for (uint32_t& dword : unit.dwords)
      dword = static_cast<uint32_t>(random_.bits());
    unit.set_queue_pair_number(named);
    unit.set_underlying_function(function);
    unit.set_origin(origin);
    unit.set_send_queue_sequence_number(sequence_number);
    unit.set_status(spec::CompletionStatus::success);
    if (origin == spec::KickOrigin::send_queue_mode)
      unit.set_physical_collect_buffer(0xff);
    else {
      if (outcomes_.free_buffers.empty())
        return false;
      const uint16_t buffer = outcomes_.free_buffers.front();
      outcomes_.free_buffers.pop_front();
      traffic_.write_command(buffer, queue_pair);
      if (streams_)
        traffic_.write_plain_command(buffer);
      unit.set_physical_collect_buffer(buffer);
      unit.set_length(model_.buffers[buffer].header().length());
    }
    std::memcpy(&rtl_.kick_started_unit, &unit, sizeof unit);
    rtl_.kick_started = 1;
    offered_ = unit;
    return true;
  }

  // A clock.

  void go_on() {
    if (place_.clock % 64 == 0 && !streams_) {
      take_ = std::array{10U, 50U, 100U}[random_.below(3)];
      answer_ = std::array{20U, 60U, 100U}[random_.below(3)];
    }
    rtl_.execution_ready = random_.percent(take_);
    rtl_.schedule_request_ready = random_.percent(take_);
    rtl_.finish_handed_back_ready = random_.percent(take_);
    rtl_.event_ready = random_.percent(take_);
    rtl_.rewind_ready = random_.percent(take_);
    rtl_.read_command_ready = random_.percent(answer_);
    rtl_.read_ready = random_.percent(answer_);
    rtl_.pin_ready = random_.percent(answer_);
    rtl_.fail_ready = !outcomes_.failing && random_.percent(answer_);
    rtl_.look_number = random_.below(contexts);
    const bool has_commands = !commands_[rtl_.look_number].empty();
    answer();
    step();
    if (has_commands)
      expect(place_, "commands of a place", rtl_.has_commands, 1);
  }

  void answer() {
    rtl_.answer = !answers_.empty() && random_.percent(answer_);
    if (rtl_.answer) {
      const Answer& given = answers_.front();
      rtl_.answer_found = given.found;
      std::memcpy(&rtl_.answer_control, &given.control, sizeof given.control);
      std::memcpy(&rtl_.answer_requester, &given.requester, sizeof given.requester);
      std::memcpy(&rtl_.answer_completion, &given.parts.completion, sizeof given.parts.completion);
      answers_.pop_front();
    }
    rtl_.pinned = !pins_.empty() && random_.percent(answer_);
    if (rtl_.pinned) {
      rtl_.pinned_done = model_.queue_pairs.pin(pins_.front());
      if (rtl_.pinned_done)
        model_.queue_pairs.unpin(pins_.front());
      not_pinned_ += !rtl_.pinned_done;
      pins_.pop_front();
    }
    rtl_.failed = outcomes_.failing && random_.percent(answer_);
    if (rtl_.failed)
      outcomes_.end_failure();
  }

  void step() {
    rtl_.clock = 0;
    rtl_.now = place_.clock + 1;
    rtl_.eval();
    outcomes_.compare();
    take_inputs();
    const bool reads = rtl_.read_command && rtl_.read_command_ready;
    const uint32_t buffer = rtl_.read_command_physical_collect_buffer;
    const uint32_t beat = rtl_.read_command_beat;
    rtl_.clock = 1;
    rtl_.eval();
    ++place_.clock;
    rtl_.answer = rtl_.pinned = rtl_.failed = rtl_.kick_started = 0;
    rtl_.schedule_done &= !are_ready_[0];
    rtl_.progress_notice &= !are_ready_[1];
    rtl_.post_notice &= !are_ready_[2];
    rtl_.resume &= !are_ready_[3];
    std::array<uint8_t, BEAT_BYTES> data;
    for (uint8_t& byte : data)
      byte = static_cast<uint8_t>(random_.bits());
    if (reads) {
      expect(place_, "beat of a command", (beat + 1) * BEAT_BYTES <= spec::command_bytes, 1);
      std::memcpy(data.data(), model_.buffers[buffer].data.data() + beat * BEAT_BYTES, BEAT_BYTES);
    }
    std::memcpy(&rtl_.read_command_data, data.data(), data.size());
  }

  void take_inputs() {
    are_ready_ = {rtl_.schedule_done_ready != 0, rtl_.progress_notice_ready != 0, rtl_.post_notice_ready != 0,
                  rtl_.resume_ready != 0};
    if (rtl_.kick_started) {
      commands_[place_of(offered_.queue_pair_number())].push_back(offered_);
      ++commands_under_way_;
    }
    if (rtl_.entering)
      entered_.push_back({.kind = static_cast<Kind>(rtl_.entering_kind), .clock = place_.clock});
    if (rtl_.read && rtl_.read_ready)
      take_unit(rtl_.read_number);
    if (rtl_.pin && rtl_.pin_ready)
      pins_.push_back(rtl_.pin_number);
    if (rtl_.fail && rtl_.fail_ready)
      outcomes_.begin_failure();
  }

  // RTL reads the context of the oldest unit that has entered: the model takes it now.
  void take_unit(uint32_t named) {
    if (entered_.empty())
      differ(place_, "units that entered", 1, 0);
    const Entered entered = entered_.front();
    entered_.pop_front();
    ++units_;
    const auto found = model_.queue_pairs.find_any(named);
    Answer given{.found = static_cast<bool>(found)};
    if (found)
      given.parts = *found;
    if (found)
      outcomes_.compare_context(named, *found);
    const FetchOutcomes::Context& context = outcomes_.context(named);
    given.control = context.control;
    given.requester = context.requester;
    given.requester.set_built_psn(static_cast<uint32_t>(random_.bits()) & hca::psn_mask);
    answers_.push_back(given);
    run_model(entered, named);
    outcomes_.gather(entered.clock, named, context.requester);
  }

  template <class Unit> Unit take_first(std::deque<Unit>& units, uint32_t named) {
    if (units.empty())
      differ(place_, "units of a link", 1, 0);
    const Unit unit = units.front();
    units.pop_front();
    expect(place_, "queue pair whose context is read", named, unit.queue_pair_number());
    return unit;
  }
  void run_model(const Entered& entered, uint32_t named) {
    switch (entered.kind) {
    case Kind::done:
      model_.take(take_first(dones_, named));
      outcomes_.unpins.push_back(named);
      break;
    case Kind::progress:
      model_.take(take_first(progress_, named));
      break;
    case Kind::notice:
      model_.take(take_first(notices_, named));
      break;
    case Kind::resume: {
      const Resumed unit = take_first(resumes_, named);
      model_.resume(unit.underlying_function, unit.number);
      break;
    }
    case Kind::command:
      model_.take(take_first(commands_[place_of(named)], named));
      --commands_under_way_;
    }
  }

  size_t units_under_way() const {
    return dones_.size() + progress_.size() + notices_.size() + resumes_.size() + commands_under_way_ +
           answers_.size();
  }
  bool is_at_rest() const {
    return units_under_way() == 0 && !rtl_.kick_started && entered_.empty() && pins_.empty() &&
           outcomes_.is_over();
  }
  void come_to_rest() {
    // Writing its context may be the only effect of a unit.
    for (uint32_t clock = 0, quiet = 0; quiet < 40; ++clock) {
      if (clock > 100'000)
        differ(place_, "units under way", commands_under_way_, 0);
      go_on();
      quiet = is_at_rest() ? quiet + 1 : 0;
    }
    for (const QueuePair& queue_pair : traffic_.live)
      outcomes_.compare_context(queue_pair.number, traffic_.parts(queue_pair));
    expect(place_, "free PCBs", outcomes_.free_buffers.size(), buffer_count);
    for (uint32_t place = 0; place < contexts; ++place) {
      rtl_.look_number = place;
      step();
      expect(place_, "commands of a place at rest", rtl_.has_commands, 0);
    }
    outcomes_.compare_counts();
  }

  // Commands of some queue pairs, in turn.
  void stream(uint32_t queue_pairs) {
    constexpr uint32_t count = 500;
    const uint64_t begin = place_.clock;
    const uint64_t executed = outcomes_.executed;
    for (uint32_t left = count; left != 0; go_on())
      if (rtl_.kick_started_credit)
        left -= offer_plain(traffic_.live[left % queue_pairs]);
    while (!is_at_rest())
      go_on();
    std::printf("%u commands of %u queue pairs in %llu clocks\n", count, queue_pairs,
                number(place_.clock - begin));
    come_to_rest();
    expect(place_, "commands of the stream that execute", outcomes_.executed - executed, count);
  }
  void take_one() {
    const uint64_t begin = place_.clock;
    offer_plain(traffic_.live.front());
    while (!rtl_.execution_valid)
      go_on();
    std::printf("one alone after %llu clocks\n", number(place_.clock - begin));
    come_to_rest();
  }
  // Half of the places have queue pairs whose commands execute.
  void prepare_stream() {
    while (traffic_.live.size() < contexts / 2)
      create();
    for (const QueuePair& queue_pair : traffic_.live) {
      hca::QueuePairParts& own = traffic_.parts(queue_pair);
      traffic_.settle(queue_pair);
      outcomes_.context(queue_pair.number) = {.control = own.control,
                                              .requester = own_fields(&own.requester)};
    }
  }
  bool offer_plain(const QueuePair& queue_pair) {
    const auto waiting = static_cast<uint32_t>(commands_[place_of(queue_pair.number)].size());
    const auto next = static_cast<uint16_t>(traffic_.parts(queue_pair).requester.next() + waiting);
    return offer_command(queue_pair, queue_pair.number, queue_pair.underlying_function,
                         spec::KickOrigin::collected, next);
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  FetchModel model_;
  FetchTraffic traffic_;
  FetchOutcomes outcomes_{place_, model_, rtl_};
  uint32_t records_on_ = 0;
  uint32_t gone_ = 2; // the number of a former queue pair

  // Units that RTL has received or will receive.
  std::deque<spec::ScheduleDone> dones_;
  std::deque<spec::QueuePairNotice> progress_;
  std::deque<spec::PostNotice> notices_;
  std::deque<Resumed> resumes_;
  std::array<std::deque<spec::KickUnit>, contexts> commands_; // by place
  spec::KickUnit offered_;
  uint32_t commands_under_way_ = 0;
  std::array<bool, 4> are_ready_{}; // links
  std::deque<Entered> entered_;
  std::deque<Answer> answers_;
  std::deque<uint32_t> pins_;

  uint32_t take_ = 100;
  uint32_t answer_ = 100;
  bool streams_ = false;
  uint64_t units_ = 0;
  uint64_t not_pinned_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
