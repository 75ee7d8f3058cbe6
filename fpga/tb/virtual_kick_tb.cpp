// virtual_kick in lockstep with the device model: kicks, finished commands and changes of the mapping table
// from a seed, and every pin, release, started command, credit and count compared. Arguments: seed, clocks.
//
// The shape (TRANSMIT_VIRTUAL_LANES and the other parameters) is given to Verilator and, by the same names,
// to this file. The model does in its order what the RTL does in one clock from the state before it: start,
// then the kick of the second stage, then what has finished. Entries of the mapping table that are read again
// are the bench's: the model is told what was read.
#include "virtual_kick_compare.h"
#include "virtual_kick_stream.h"

#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace fpga_verbs::bench {
namespace {

class Bench : ComparedVirtualKick {
public:
  using ComparedVirtualKick::ComparedVirtualKick;

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

  // Units are taken that together return a credit of each kind and end a command at most; no unit is left
  // that could be taken beside them, and one that ends a command is not while a refused command is unpinned.
  void follow_finishes(bool unpins_refused) {
    const bool may_end = !unpins_refused && dropping_clocks_ == 0;
    bool ends = false;
    uint32_t ended = 0;
    uint32_t taken_units = 0;
    uint32_t offered = 0;
    uint32_t execution = 0;
    uint32_t completion = 0;
    for (uint32_t port = 0; port < ports; ++port) {
      if (finishes_[port].empty())
        continue;
      const FinishUnit unit = finishes_[port].front();
      const bool taken = (rtl_.finish_ready >> port & 1) != 0;
      waited_[port] = taken ? 0 : waited_[port] + 1;
      if (waited_[port] > clock_limit)
        differ(place_, "clocks that a finished command waited", waited_[port], clock_limit);
      if (unit.finished() != 0 && !may_end)
        expect_value("finished command taken", taken, 0);
      offered += unit.finished() == 0 || may_end;
      if (!taken)
        continue;
      ++taken_units;
      execution += unit.execution_credit_returned() != 0;
      completion += unit.completion_credit_returned() != 0;
      if (unit.finished() != 0) {
        expect_value("second finished command in a clock", ends, 0);
        ends = true;
        ended = static_cast<uint32_t>(unit.queue_pair_number());
      }
      finish_links_[port].push(unit);
      finishes_[port].pop_front();
    }
    expect_value("finish taken", taken_units != 0, offered != 0);
    expect_value("second execution credit in a clock", execution > 1, 0);
    expect_value("second completion credit in a clock", completion > 1, 0);
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
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
