// virtual_kick in lockstep with the device model: kicks, finished commands and changes of the mapping table
// from a seed, and every pin, release, started command, credit and count compared. Arguments: seed, clocks.
//
// The shape (TRANSMIT_VIRTUAL_LANES and the other parameters) is given to Verilator and, by the same names,
// to this file. The model does in its order what the RTL does in one clock from the state before it: start,
// then the kick of the second stage, then what has finished. Entries of the mapping table that are read again
// are the bench's: the model is told what was read.
#include "Vvirtual_kick.h"
#include "bench.h"
#include "hca/base/hca_links.h"
#include "hca/collect/collect_buffer.h"
#include "hca/kick/virtual_kick.h"
#include "virtual_kick_stream.h"
#include "virtual_kick_surroundings.h"

#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vvirtual_kick;
using spec::FinishUnit;
using spec::KickUnit;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {
    for (uint32_t number = 0; number < queue_pairs - hca::QueuePairStateCache::reserved_indices; ++number) {
      spec::QueuePairControl control;
      live_.push_back(queue_pair_state_cache_.create(number % functions, control).value());
    }
    entry_credits_.fill(entries);
  }

  int run() {
    const Stream stream = run_stream(rtl_, live_);
    std::printf("%u started in %u clocks on end, %u clocks from a kick to its start\n", stream.started,
                stream.clocks, stream.latency);
    if constexpr (turns_can_be_seen)
      run_turns(rtl_, live_);
    start_anew(rtl_);
    for (place_.clock = 0; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 128 == 0)
        choose_weights();
      drive();
      rtl_.clock = 0;
      rtl_.eval();
      follow();
      rtl_.clock = 1;
      rtl_.eval();
      compare_state();
    }
    std::printf("%llu clocks, %llu started, %llu with shared credits, %llu refused, %llu stale, "
                "%llu full lists, %llu clocks for entries, %llu dropped\n",
                static_cast<unsigned long long>(clocks_), static_cast<unsigned long long>(started_),
                static_cast<unsigned long long>(shared_), static_cast<unsigned long long>(refused_),
                static_cast<unsigned long long>(stale_), static_cast<unsigned long long>(full_),
                static_cast<unsigned long long>(fetches_), static_cast<unsigned long long>(discarded_));
#if VM_COVERAGE
    VerilatedCov::write("coverage.dat");
#endif
    return 0;
  }

private:
  bool first_dropped(uint32_t lane) const { return (model_.lanes_to_discard() >> lane & 1) != 0; }

  template <size_t... Ports>
  static std::array<hca::DataLink<FinishUnit>, ports> finish_links(std::index_sequence<Ports...>) {
    return {((void)Ports, hca::DataLink<FinishUnit>(16))...};
  }

  void expect_value(const char* what, uint64_t rtl, uint64_t model) { expect(place_, what, rtl, model); }

  // Percentages that stay for a while, so that lists, credits and entries run full and empty.
  void choose_weights() {
    const auto weight = [&] { return std::array{5U, 30U, 60U, 95U, 100U}[random_.below(5)]; };
    weights_ = {.kick = weight(),
                .finish = random_.once(3) ? 2 : weight(),
                .credit = weight(),
                .queue_pairs = 1 + random_.below(static_cast<uint32_t>(live_.size()))};
  }

  std::optional<KickUnit> some_kick() {
    if (!random_.percent(weights_.kick))
      return std::nullopt;
    const std::optional<uint16_t> buffer = collect_buffer_.take_dedicated();
    if (!buffer)
      return std::nullopt;
    const uint32_t which = random_.below(weights_.queue_pairs);
    KickUnit kick;
    for (uint32_t& dword : kick.dwords)
      dword = static_cast<uint32_t>(random_.bits());
    kick.set_physical_collect_buffer(*buffer);
    kick.set_underlying_function(which % functions);
    kick.set_quality_of_service_level(static_cast<spec::QualityOfServiceLevel>(which / functions % 2));
    // Now and then a former queue pair's number.
    const uint32_t generation = random_.once(16) ? 1U << spec::queue_pair_index_bits : 0;
    kick.set_queue_pair_number(live_[which] ^ generation);
    // The model finds the commands of a queue pair by their PCBs.
    hca::PhysicalCollectBuffer& pcb = buffers_[*buffer];
    pcb.underlying_function = static_cast<uint8_t>(kick.underlying_function());
    spec::CommandHeader header;
    header.set_queue_pair_number(kick.queue_pair_number());
    std::memcpy(pcb.data.data(), header.dwords.data(), sizeof(header));
    return kick;
  }

  void drive() {
    if (!scheduled_)
      scheduled_ = some_kick();
    if (!collected_)
      collected_ = some_kick();
    rtl_.kick_scheduled = scheduled_.has_value();
    rtl_.kick_collected = collected_.has_value();
    if (scheduled_)
      put(rtl_.kick_scheduled_unit, *scheduled_, 0);
    if (collected_)
      put(rtl_.kick_collected_unit, *collected_, 0);
    rtl_.kick_started_credit = random_.percent(weights_.credit);
    finish_some();
    rtl_.finish = 0;
    for (uint32_t port = 0; port < ports; ++port)
      if (!finishes_[port].empty()) {
        rtl_.finish = static_cast<uint8_t>(rtl_.finish | 1U << port);
        put(rtl_.finish_unit, finishes_[port].front(), port);
      }
    rtl_.pinned = 0;
    if (pin_asked_) {
      const auto number = static_cast<uint32_t>(second_->kick.queue_pair_number());
      second_->pinned = number >> spec::queue_pair_index_bits == 0;
      rtl_.pinned = second_->pinned;
      pins_[number % queue_pairs] += second_->pinned;
    }
    pin_asked_ = false;
    drive_settings();
  }

  void drive_settings() {
    rtl_.drop = dropping_clocks_ == 0 && random_.once(150);
    rtl_.drop_queue_pair_number = live_[random_.below(weights_.queue_pairs)];
    rtl_.fetched_lanes = fetch_asked_ && random_.once(3);
    rtl_.set_lanes = rtl_.fetched_lanes ? !random_.once(4) : random_.once(100);
    rtl_.set_lanes_underlying_function =
        static_cast<uint8_t>(rtl_.fetched_lanes ? fetched_entry_ / 2 : random_.below(functions));
    rtl_.set_lanes_quality_of_service_level =
        static_cast<uint8_t>(rtl_.fetched_lanes ? fetched_entry_ % 2 : random_.below(2));
    rtl_.invalidate_lanes = random_.once(50);
    rtl_.invalidate_lanes_entries =
        static_cast<uint32_t>(random_.bits()) & static_cast<uint32_t>((uint64_t{1} << 2 * functions) - 1);
    divide_some(rtl_, random_);
    rtl_.set_shared_lanes = !rtl_.set_lanes && !rtl_.fetched_lanes && random_.once(100);
    rtl_.set_lanes_lanes = random_.once(4) ? 0 : random_.bits() & random_.bits() & all_lanes;
  }

  // Running commands end in any order: at once, or with the packets and with the acknowledgement.
  void finish_some() {
    while (!running_.empty() && random_.percent(weights_.finish)) {
      const uint32_t which = random_.below(static_cast<uint32_t>(running_.size()));
      Running& running = running_[which];
      const bool ends = running.sent || random_.once(3);
      finishes_[running.port].push_back(finish_of(running.kick, !running.sent, ends));
      running.sent = true;
      if (ends)
        running_.erase(running_.begin() + which);
    }
  }

  // The model does what the RTL does in this clock.
  void follow() {
    expect_started();
    expect_value("dropping", rtl_.dropping, dropping_clocks_ != 0);
    // Refused by the RTL: whether it is right, the model tells.
    const bool refuses = rtl_.release_buffer && !rtl_.command_stale;
    expect_fetch();
    follow_starting();
    const bool leaves = second_ && !fetch_asked_ && dropping_clocks_ == 0 && follow_second(refuses);
    follow_left();
    follow_discarded();
    if (!leaves)
      expect_value("PCB given back", rtl_.release_buffer, 0);
    expect_value("command dropped", rtl_.dropped, rtl_.dropped && left_to_drop_ != 0);
    if (!leaves)
      expect_value("stale command", rtl_.command_stale, rtl_.dropped);
    expect_value("pin", rtl_.pin, first_ && (!second_ || leaves));
    if (rtl_.pin)
      expect_value("queue pair to pin", rtl_.pin_queue_pair_number, first_->kick.queue_pair_number());
    follow_finishes(refuses && second_->pinned);
    if (leaves)
      second_.reset();
    follow_first();
    follow_settings();
    follow_drop();
    // As soon as it starts a lane holds credits for a command that is on its list as yet.
    if (const char* contradiction = taken_.empty() ? model_.verify() : nullptr; contradiction != nullptr) {
      std::printf("seed %llu, clock %llu: RTL led the model to: %s\n",
                  static_cast<unsigned long long>(place_.seed), static_cast<unsigned long long>(place_.clock),
                  contradiction);
      std::exit(1);
    }
  }

  // A kick that has to choose a lane waits for an entry that is to be read again.
  void expect_fetch() {
    fetch_asked_ = false;
    if (second_ && second_->pinned && has_entry_credit(second_->kick) && dropping_clocks_ == 0) {
      const KickUnit& kick = second_->kick;
      fetched_entry_ = static_cast<uint32_t>(kick.underlying_function()) * 2 +
                       static_cast<uint32_t>(kick.quality_of_service_level());
      const auto number = static_cast<uint32_t>(kick.queue_pair_number());
      fetch_asked_ = (invalid_ >> fetched_entry_ & 1) != 0 && model_.queue_pair_lane(number).commands == 0;
    }
    expect_value("entry of the mapping table asked for", rtl_.fetch_lanes, fetch_asked_);
    if (!fetch_asked_)
      return;
    ++fetches_;
    expect_value("which entry is asked for",
                 rtl_.fetch_lanes_underlying_function * 2U + rtl_.fetch_lanes_quality_of_service_level,
                 fetched_entry_);
  }

  bool has_entry_credit(const KickUnit& kick) const {
    return listed_[kick.underlying_function()] < entry_credits_[kick.underlying_function()];
  }

  // A command that was refused in the clock before, or has left its list and waited for room.
  void expect_started() {
    const bool is_out = rtl_.kick_started && !due_refused_;
    expect_value("kick corrupted", rtl_.kick_corrupted, 0);
    if (due_refused_)
      expect_value("kick refused", rtl_.kick_started, 1);
    if (is_out && out_.empty())
      differ(place_, "kick started that has not left its list", 1, 0);
    if (is_out)
      expect_value("credit of a kick that is started", rtl_.kick_started_credit, 1);
    if (!out_.empty() && rtl_.kick_started_credit && !due_refused_)
      expect_value("kick started", rtl_.kick_started, 1);
    if (!rtl_.kick_started)
      return;
    const KickUnit expected = due_refused_ ? *due_ : out_.front();
    const auto unit = get<KickUnit>(rtl_.kick_started_unit);
    for (uint32_t dword = 0; dword < unit_dwords; ++dword)
      expect_value("data unit started", unit.dwords[dword], expected.dwords[dword]);
    due_.reset();
    if (due_refused_) {
      ++refused_;
      due_refused_ = false;
      return;
    }
    out_.pop_front();
    ++started_;
    shared_ += unit.execution_credit_shared() != 0 || unit.completion_credit_shared() != 0;
    running_.push_back({.kick = unit, .port = random_.below(ports)});
    collect_buffer_.release(static_cast<uint16_t>(unit.physical_collect_buffer()));
  }

  // A lane that starts has a command that is neither started nor dropped, and takes its credits now. One that
  // could, does before the others have had many turns.
  void follow_starting() {
    if (rtl_.starting) {
      const uint32_t lane = rtl_.starting_lane;
      if (!able(lane))
        differ(place_, "lane that starts without a command or a credit", lane, lanes);
      taken_.push_back({.lane = lane,
                        .execution = model_.credits(hca::CreditKind::execution).take(lane),
                        .completion = model_.credits(hca::CreditKind::completion).take(lane)});
      ++flying_[lane];
      turns_[lane] = 0;
    }
    const bool room = taken_.size() + out_.size() < out_entries && dropping_clocks_ == 0 && !rtl_.drop;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      turns_[lane] = able(lane) && room ? turns_[lane] + 1 : 0;
      if (turns_[lane] > start_limit)
        differ(place_, "clocks that a lane which could start waited", turns_[lane], start_limit);
      discard_waited_[lane] = dropping_clocks_ == 0 && first_dropped(lane) ? discard_waited_[lane] + 1 : 0;
      if (discard_waited_[lane] > start_limit)
        differ(place_, "clocks that a dropped command waited", discard_waited_[lane], start_limit);
    }
  }

  bool able(uint32_t lane) const {
    return model_.lane_state(lane).commands() > flying_[lane] && !first_dropped(lane) &&
           model_.credits(hca::CreditKind::execution).available(lane) != 0 &&
           model_.credits(hca::CreditKind::completion).available(lane) != 0;
  }

  // A command that was started has left its list; it comes out when there is room.
  void follow_left() {
    if (!rtl_.left)
      return;
    expect_value("command that was started", taken_.empty(), 0);
    const Taken taken = taken_.front();
    taken_.pop_front();
    expect_value("lane that a command leaves", rtl_.left_lane, taken.lane);
    KickUnit unit;
    expect_value("dropped command that is started", model_.leave_list(taken.lane, unit), 0);
    unit.set_execution_credit_shared(taken.execution == hca::CreditSource::shared);
    unit.set_completion_credit_shared(taken.completion == hca::CreditSource::shared);
    --flying_[taken.lane];
    --listed_[unit.underlying_function()];
    on_list_.reset(unit.physical_collect_buffer());
    out_.push_back(unit);
  }

  // A dropped command that was the first of its list is discarded.
  void follow_discarded() {
    if (!rtl_.discarded)
      return;
    KickUnit unit;
    expect_value("command discarded that was not dropped", model_.leave_list(rtl_.discarded_lane, unit), 1);
    const auto buffer = static_cast<uint32_t>(unit.physical_collect_buffer());
    expect_value("PCB of a dropped command", rtl_.discarded_physical_collect_buffer, buffer);
    dropped_.reset(buffer);
    on_list_.reset(buffer);
    --listed_[unit.underlying_function()];
    discard_waited_[rtl_.discarded_lane] = 0; // the next one's wait
    ++discarded_;
  }

  // The model drops at once what takes the RTL a clock for each entry, in which neither does anything else.
  void follow_drop() {
    if (dropping_clocks_ != 0) {
      dropping_end_ = place_.clock;
      if (dropping_clocks_ == entries + 1)
        drop_all();
      left_to_drop_ -= rtl_.dropped;
      if (--dropping_clocks_ == 0)
        expect_value("commands not dropped", left_to_drop_, 0);
    }
    if (!rtl_.drop)
      return;
    dropping_clocks_ = entries + settle_clocks;
    dropped_number_ = static_cast<uint32_t>(rtl_.drop_queue_pair_number);
  }

  // All is where it went to.
  void drop_all() {
    expect_value("commands on their way while others are dropped", taken_.size(), 0);
    model_.drop(dropped_number_);
    for (uint32_t buffer = 0; buffer < entries; ++buffer) {
      const auto& header = buffers_[buffer].header();
      if (!on_list_.test(buffer) || dropped_.test(buffer) || header.queue_pair_number() != dropped_number_)
        continue;
      dropped_.set(buffer);
      ++left_to_drop_;
    }
  }

  // Lets the model do one step that may send `room` data units on; the last that it sent.
  std::optional<KickUnit> step_model(size_t room) {
    kicks_started_.clear();
    while (kicks_started_.credits() > room)
      kicks_started_.push({});
    const size_t before = kicks_started_.size();
    model_.step();
    if (kicks_started_.size() == before)
      return std::nullopt;
    while (kicks_started_.size() > 1)
      kicks_started_.pop();
    return kicks_started_.front();
  }

  // The kick of the second stage is listed, refused, or dropped for its queue pair is gone. False: it waits
  // until it can be refused.
  bool follow_second(bool refuses) {
    const KickUnit& kick = second_->kick;
    const auto function = static_cast<unsigned>(kick.underlying_function());
    const uint32_t commands = model_.commands(function);
    const uint64_t stale = counters_.function[function].commands_stale;
    if (second_->scheduled)
      kicks_scheduled_.push(kick);
    else
      kicks_collected_.push(kick);
    const std::optional<KickUnit> sent = step_model(refuses ? 1 : 0);
    if (!kicks_scheduled_.empty() || !kicks_collected_.empty()) {
      kicks_scheduled_.clear();
      kicks_collected_.clear();
      expect_value("kick that is refused", refuses, rtl_.kick_started_credit);
      return false;
    }
    if (refuses) {
      due_ = sent;
      due_refused_ = true;
    }
    const bool is_stale = counters_.function[function].commands_stale != stale;
    const bool is_listed = model_.commands(function) != commands;
    listed_[function] += is_listed;
    if (is_listed)
      on_list_.set(kick.physical_collect_buffer());
    stale_ += is_stale;
    full_ += refuses && has_entry_credit(kick);
    expect_value("PCB given back", rtl_.release_buffer, !is_listed);
    expect_value("stale command", rtl_.command_stale, is_stale);
    if (!is_listed)
      expect_value("which PCB is given back", rtl_.release_physical_collect_buffer,
                   kick.physical_collect_buffer());
    if (is_stale)
      expect_value("function of a stale command", rtl_.counted_underlying_function, function);
    return true;
  }

  // All that end no command are taken, and one that does, unless a refused command is unpinned.
  void follow_finishes(bool unpins_refused) {
    bool ends = false;
    uint32_t ended = 0;
    uint32_t ending = 0;
    for (uint32_t port = 0; port < ports; ++port) {
      if (finishes_[port].empty())
        continue;
      const FinishUnit unit = finishes_[port].front();
      const bool taken = (rtl_.finish_ready >> port & 1) != 0;
      ending += unit.finished() != 0;
      waited_[port] = taken ? 0 : waited_[port] + 1;
      if (waited_[port] > clock_limit)
        differ(place_, "clocks that a finished command waited", waited_[port], clock_limit);
      if (unit.finished() == 0)
        expect_value("finish taken", taken, 1);
      if (!taken)
        continue;
      if (unit.finished() != 0) {
        expect_value("second finished command in a clock", ends, 0);
        ends = true;
        ended = static_cast<uint32_t>(unit.queue_pair_number());
      }
      finish_links_[port].push(unit);
      finishes_[port].pop_front();
    }
    expect_value("finished command taken", ends, ending != 0 && !unpins_refused && dropping_clocks_ == 0);
    step_model(0);
    expect_value("unpin", rtl_.unpin, ends || unpins_refused || rtl_.dropped);
    if (!rtl_.unpin)
      return;
    const uint32_t number = ends           ? ended
                            : rtl_.dropped ? dropped_number_
                                           : static_cast<uint32_t>(second_->kick.queue_pair_number());
    expect_value("queue pair to unpin", rtl_.unpin_queue_pair_number, number);
    --pins_[number % queue_pairs];
  }

  void follow_first() {
    const bool room = !first_ || rtl_.pin;
    if (rtl_.pin) {
      second_ = first_;
      first_.reset();
      pin_asked_ = true;
    }
    const bool scheduled = scheduled_ && rtl_.kick_scheduled_ready;
    const bool collected = collected_ && rtl_.kick_collected_ready;
    expect_value("kicks taken", uint64_t{scheduled} + collected, room && (scheduled_ || collected_));
    if (scheduled && collected_ && scheduled_before_)
      differ(place_, "kick of the scheduler before its turn", 1, 0);
    if (scheduled || collected)
      scheduled_before_ = scheduled;
    if (scheduled)
      first_ = {.kick = *std::exchange(scheduled_, std::nullopt), .scheduled = true};
    if (collected)
      first_ = {.kick = *std::exchange(collected_, std::nullopt)};
  }

  void follow_settings() {
    if (rtl_.set_lanes)
      expect_value(
          "lanes allowed", rtl_.set_lanes_allowed,
          model_.set_lanes(rtl_.set_lanes_underlying_function,
                           static_cast<spec::QualityOfServiceLevel>(rtl_.set_lanes_quality_of_service_level),
                           rtl_.set_lanes_lanes));
    if (rtl_.set_shared_lanes)
      expect_value("shared lanes allowed", rtl_.set_shared_lanes_allowed,
                   model_.set_shared_lanes(rtl_.set_lanes_lanes));
    if (rtl_.set_entry_credits) {
      model_.set_entry_credits(rtl_.set_entry_credits_underlying_function, rtl_.set_entry_credits_credits);
      entry_credits_[rtl_.set_entry_credits_underlying_function] = rtl_.set_entry_credits_credits;
    }
    if (rtl_.fetched_lanes)
      invalid_ &= ~(1U << fetched_entry_);
    if (rtl_.invalidate_lanes)
      invalid_ |= static_cast<uint32_t>(rtl_.invalidate_lanes_entries);
    if (rtl_.set_list_size)
      model_.set_list_size(rtl_.set_list_size_lane, rtl_.set_list_size_commands);
    const unsigned lane = rtl_.set_credits_lane;
    if (rtl_.set_execution_credits)
      model_.credits(hca::CreditKind::execution)
          .divide(lane, rtl_.set_credits_own, rtl_.set_credits_shared_cap);
    if (rtl_.set_completion_credits)
      model_.credits(hca::CreditKind::completion)
          .divide(lane, rtl_.set_credits_own, rtl_.set_credits_shared_cap);
    if (rtl_.set_shared_execution_credits)
      model_.credits(hca::CreditKind::execution).set_shared(rtl_.set_shared_credits);
    if (rtl_.set_shared_completion_credits)
      model_.credits(hca::CreditKind::completion).set_shared(rtl_.set_shared_credits);
  }

  void compare_state() {
    const uint32_t lane = random_.below(lanes);
    const uint32_t function = random_.below(functions);
    rtl_.query_lane = static_cast<uint8_t>(lane);
    rtl_.query_underlying_function = static_cast<uint8_t>(function);
    rtl_.eval();
    const spec::control::LaneState state = model_.lane_state(lane);
    expect_value("commands on a lane", rtl_.query_commands, state.commands());
    const hca::LaneCredits& execution = model_.credits(hca::CreditKind::execution);
    const hca::LaneCredits& completion = model_.credits(hca::CreditKind::completion);
    expect_value("execution credits of a lane", rtl_.query_execution_credits_held,
                 execution.held(lane) - execution.shared_held(lane));
    expect_value("completion credits of a lane", rtl_.query_completion_credits_held,
                 completion.held(lane) - completion.shared_held(lane));
    expect_value("shared execution credits of a lane", rtl_.query_shared_execution_credits_held,
                 state.shared_execution_credits());
    expect_value("shared completion credits of a lane", rtl_.query_shared_completion_credits_held,
                 state.shared_completion_credits());
    const auto free = [](uint32_t all, uint32_t held) { return all - std::min(all, held); };
    expect_value("shared execution credits", free(execution.shared(), rtl_.shared_execution_credits_held),
                 model_.shared_credits_free(hca::CreditKind::execution));
    expect_value("shared completion credits", free(completion.shared(), rtl_.shared_completion_credits_held),
                 model_.shared_credits_free(hca::CreditKind::completion));
    compare_outlook(lane, function);
    if (left_to_drop_ != 0)
      return;
    expect_value("commands of a function", rtl_.query_function_commands, model_.commands(function));
    compare_inspected();
    const uint32_t number = live_[random_.below(static_cast<uint32_t>(live_.size()))];
    const bool undecided = second_ && second_->pinned && second_->kick.queue_pair_number() == number;
    expect_value("pins of a queue pair", pins_[number % queue_pairs] - undecided,
                 queue_pair_state_cache_.pins(number));
  }

  // Figures that send_queue_scheduler asks for.
  void compare_outlook(uint32_t lane, uint32_t function) {
    const hca::VirtualKickPort::Outlook outlook = model_.outlook(lane);
    expect_value("room on a lane", rtl_.outlook_room, outlook.room);
    expect_value("credits beyond a list", rtl_.outlook_credits, outlook.credits);
    expect_value("fetched command on a lane", rtl_.outlook_has_fetched, outlook.has_fetched);
    const uint32_t level = random_.below(2);
    rtl_.outlook_underlying_function = static_cast<uint8_t>(function);
    rtl_.outlook_quality_of_service_level = static_cast<uint8_t>(level);
    rtl_.eval();
    expect_value("entry to be read again", rtl_.outlook_lane_invalid, invalid_ >> (function * 2 + level) & 1);
    if (left_to_drop_ == 0)
      expect_value("next lane of a level", rtl_.outlook_lane,
                   model_.choose_lane(function, static_cast<spec::QualityOfServiceLevel>(level)));
  }

  // The lane of a queue pair, as it was a few clocks ago; where something was dropped since, not at all.
  void compare_inspected() {
    const hca::VirtualKickPort::QueuePairLane lane = model_.queue_pair_lane(live_[inspected_]);
    const uint32_t commands = lane.commands;
    least_inspected_ = std::min(least_inspected_, commands);
    most_inspected_ = std::max(most_inspected_, commands);
    if (place_.clock < dropping_end_ + 4) {
      least_inspected_ = 0;
      most_inspected_ = ~0U;
    }
    if (place_.clock % 4 != 3)
      return;
    if (rtl_.inspect_commands < least_inspected_ || rtl_.inspect_commands > most_inspected_)
      differ(place_, "commands of a queue pair", rtl_.inspect_commands, commands);
    if (least_inspected_ != 0)
      expect_value("lane of a queue pair", rtl_.inspect_lane, lane.lane);
    inspected_ = random_.below(static_cast<uint32_t>(live_.size()));
    rtl_.inspect_queue_pair = static_cast<uint16_t>(live_[inspected_] % queue_pairs);
    least_inspected_ = ~0U;
    most_inspected_ = 0;
  }

  static constexpr uint32_t clock_limit = 1000;
  // Clocks in which a lane that can start, or has a command to discard, gets its turn.
  static constexpr uint32_t start_limit = 16 * (lanes + 2);
  static constexpr uint32_t settle_clocks = 8; // before commands are dropped
  static constexpr uint32_t out_entries = 16;

  // The credits that a lane took when it started.
  struct Taken {
    uint32_t lane = 0;
    hca::CreditSource execution = hca::CreditSource::none;
    hca::CreditSource completion = hca::CreditSource::none;
  };

  Rtl rtl_;
  hca::HcaParameters parameters_ = model_parameters();
  hca::Counters counters_;
  NoTime clock_;
  NoHost host_;
  NoEvents events_;
  hca::ContextMemory context_memory_{parameters_, counters_, host_, events_};
  hca::QueuePairStateCache queue_pair_state_cache_{parameters_, counters_, context_memory_};
  hca::KickRecords kick_records_{counters_, host_, clock_, events_};
  hca::HcaLinks links_;
  hca::DataLink<KickUnit>& kicks_collected_ = links_.kicks_collected;
  hca::DataLink<KickUnit>& kicks_scheduled_ = links_.kicks_scheduled;
  hca::DataLink<KickUnit>& kicks_started_ = links_.kicks_started;
  std::array<hca::DataLink<FinishUnit>, ports> finish_links_ =
      finish_links(std::make_index_sequence<ports>());
  hca::PhysicalCollectBuffers buffers_{parameters_};
  hca::CollectBuffer collect_buffer_{{parameters_, counters_, clock_, buffers_, queue_pair_state_cache_,
                                      events_, kick_records_, kicks_collected_, links_.post_notices,
                                      links_.management_units}};
  hca::LaneMapReader lane_map_reader_{counters_, host_, events_};
  hca::WaitingForRoom waiting_for_room_{parameters_};
  // Led by what the RTL decides.
  hca::VirtualKick model_{{parameters_,
                           counters_,
                           collect_buffer_,
                           buffers_,
                           queue_pair_state_cache_,
                           lane_map_reader_,
                           waiting_for_room_,
                           kicks_collected_,
                           kicks_scheduled_,
                           kicks_started_,
                           {&finish_links_[0], &finish_links_[1], &finish_links_[2]}}};
  Random random_;
  Place place_;
  uint64_t clocks_;
  Weights weights_;
  std::vector<uint32_t> live_; // queue pair numbers
  std::array<uint32_t, functions> entry_credits_{};
  std::array<uint32_t, functions> listed_{}; // entries that a function pays for
  std::array<uint32_t, queue_pairs> pins_{};

  std::optional<KickUnit> scheduled_; // offered
  std::optional<KickUnit> collected_;
  bool scheduled_before_ = false;
  std::optional<Stage> first_;
  std::optional<Stage> second_;
  bool pin_asked_ = false;
  uint32_t invalid_ = 0;     // entries of the mapping table, by function and level
  bool fetch_asked_ = false; // for this one
  uint32_t fetched_entry_ = 0;
  uint32_t inspected_ = 0; // of live_
  uint32_t least_inspected_ = ~0U;
  uint32_t most_inspected_ = 0;
  std::optional<KickUnit> due_; // has to come in the next clock: refused
  bool due_refused_ = false;
  std::deque<Taken> taken_;  // started, on their lists as yet
  std::deque<KickUnit> out_; // started, and off their lists
  std::array<uint32_t, lanes> flying_{};
  std::array<uint32_t, lanes> turns_{};
  std::array<uint32_t, lanes> discard_waited_{};
  std::vector<Running> running_;
  std::array<std::deque<FinishUnit>, ports> finishes_;
  std::array<uint32_t, ports> waited_{};

  std::bitset<entries> on_list_; // PCBs
  std::bitset<entries> dropped_; // of these
  uint32_t dropping_clocks_ = 0; // that the RTL still takes
  uint64_t dropping_end_ = 0;    // clock
  uint32_t left_to_drop_ = 0;
  uint32_t dropped_number_ = 0; // queue pair

  uint64_t started_ = 0;
  uint64_t discarded_ = 0;
  uint64_t shared_ = 0;
  uint64_t refused_ = 0;
  uint64_t stale_ = 0;
  uint64_t full_ = 0;
  uint64_t fetches_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  if (count != 3) {
    std::printf("usage: %s SEED CLOCKS\n", arguments[0]);
    return 2;
  }
  fpga_verbs::bench::Bench bench(std::strtoull(arguments[1], nullptr, 0),
                                 std::strtoull(arguments[2], nullptr, 0));
  const fpga_verbs::bench::Coverage coverage;
  return bench.run();
}
