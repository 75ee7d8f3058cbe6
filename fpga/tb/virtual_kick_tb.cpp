// virtual_kick in lockstep with the device model: kicks, finished commands and changes of the mapping table
// come from a seed; the bench compares every pin, release, started command, credit and count. Arguments:
// seed, clocks.
//
// The shape (TRANSMIT_VIRTUAL_LANES and the other parameters) is passed to Verilator and, by the same names,
// to this file. The model executes a clock of the RTL step by step: start, then the kick in the last stage,
// then the commands finished in the preceding clock. The RTL leads: its bits by lane follow the state by some
// clocks, so the bench checks that each decision is right for the state of one of these clocks, and that a
// lane has what it takes. The bench supplies the entries of the mapping table that are read again, and passes
// them to the model.
#include "hca/kick/lane_choice.h"
#include "virtual_kick_compare.h"
#include "virtual_kick_stream.h"

#include <verilated.h>

#include <cstddef>
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
  // The model executes what the RTL did in this clock.
  void follow() {
    const size_t refusals = refusals_.size();
    expect_started();
    expect_value("dropping", rtl_.dropping, dropping_clocks_ != 0);
    follow_unpin();
    const bool fetches = expect_fetch();
    note_state();
    follow_starting();
    const bool unpins_refused = unpin_.has_value();
    follow_last();
    follow_left();
    follow_discarded();
    expect_value("command dropped", rtl_.dropped, rtl_.dropped && left_to_drop_ != 0);
    follow_finishes(unpins_refused);
    follow_stages(fetches);
    follow_settings();
    open_ = !rtl_.drop && dropping_clocks_ == 0 && refusals < refused_entries;
    stays_ = rtl_.drop || dropping_clocks_ != 0;
    follow_drop();
    // A starting lane at once holds the credits of a command that is still on its list.
    if (const char* contradiction = taken_.empty() ? model_.verify() : nullptr; contradiction != nullptr) {
      std::printf("seed %llu, clock %llu: RTL led the model to: %s\n",
                  static_cast<unsigned long long>(place_.seed), static_cast<unsigned long long>(place_.clock),
                  contradiction);
      std::exit(1);
    }
  }

  // The pin of a command that ended, or was refused or dropped, in the preceding clock.
  void follow_unpin() {
    expect_value("unpin", rtl_.unpin, unpin_.has_value());
    if (unpin_) {
      expect_value("queue pair to unpin", rtl_.unpin_queue_pair_number, unpin_->number);
      --pins_[unpin_->number % queue_pairs];
    }
    unpin_ = std::exchange(unpin_refused_, std::nullopt);
  }

  // A kick waits in the first stage while its entry must be read again.
  bool expect_fetch() {
    fetch_asked_ = false;
    if (const std::optional<Stage>& first = stages_[0]) {
      fetched_entry_ = static_cast<uint32_t>(first->kick.underlying_function()) * 2 +
                       static_cast<uint32_t>(first->kick.quality_of_service_level());
      fetch_asked_ = (invalid_ >> fetched_entry_ & 1) != 0;
    }
    expect_value("entry of the mapping table asked for", rtl_.fetch_lanes, fetch_asked_);
    if (!fetch_asked_)
      return false;
    ++fetches_;
    expect_value("which entry is asked for",
                 rtl_.fetch_lanes_underlying_function * 2U + rtl_.fetch_lanes_quality_of_service_level,
                 fetched_entry_);
    return true;
  }

  // Records the state on which decisions of the next clocks may depend.
  void note_state() {
    std::array<uint64_t, 2> own{};
    std::array<uint64_t, 2> below_cap{};
    uint64_t idle = 0;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const uint64_t bit = uint64_t{1} << lane;
      idle |= model_.load(lane) == 0 ? bit : 0;
      for (const hca::CreditKind kind : {hca::CreditKind::execution, hca::CreditKind::completion}) {
        const hca::LaneCredits& credits = model_.credits(kind);
        own[static_cast<size_t>(kind)] |= credits.own_free(lane) != 0 ? bit : 0;
        below_cap[static_cast<size_t>(kind)] |=
            credits.shared_held(lane) < credits.shared_cap(lane) ? bit : 0;
      }
    }
    for (size_t kind = 0; kind < 2; ++kind) {
      own_free_[kind].note(own[kind]);
      below_cap_[kind].note(below_cap[kind]);
    }
    if (std::optional<Stage>& first = stages_[0]) { // if it continues
      first->idle = idle;
      for (uint32_t lane = 0; lane < lanes; ++lane)
        first->loads[lane] = model_.load(lane);
      first->own = model_.lanes(static_cast<unsigned>(first->kick.underlying_function()),
                                first->kick.quality_of_service_level());
    }
    if (std::optional<Stage>& second = stages_[1])
      second->shared = model_.shared_lanes();
  }

  // Refused commands leave in order, then started ones that have left their lists, when there is room.
  void expect_started() {
    expect_value("kick corrupted", rtl_.kick_corrupted, 0);
    expect_value("kick started", rtl_.kick_started,
                 rtl_.kick_started_credit && (!refusals_.empty() || !out_.empty()));
    if (!rtl_.kick_started)
      return;
    const bool is_refused = !refusals_.empty();
    std::deque<KickUnit>& from = is_refused ? refusals_ : out_;
    const KickUnit expected = from.front();
    from.pop_front();
    const auto unit = get<KickUnit>(rtl_.kick_started_unit);
    for (uint32_t dword = 0; dword < unit_dwords; ++dword)
      expect_value("data unit started", unit.dwords[dword], expected.dwords[dword]);
    if (is_refused) {
      ++refused_;
      return;
    }
    ++started_;
    shared_ += unit.execution_credit_shared() != 0 || unit.completion_credit_shared() != 0;
    running_.push_back({.kick = unit, .port = random_.below(ports)});
    collect_buffer_.release(static_cast<uint16_t>(unit.physical_collect_buffer()));
  }

  // The credit that a lane takes: its own, if its bit says that it has one.
  hca::CreditSource take_credit(hca::CreditKind kind, uint32_t lane, bool is_shared) {
    const auto at = static_cast<size_t>(kind);
    hca::LaneCredits& credits = model_.credits(kind);
    const bool divided = credits_set_[at].ever(lane);
    if (is_shared) {
      expect_value("shared credit that is there", credits.shared_free() != 0, 1);
      if (!divided)
        expect_value("shared credit below the cap", credits.shared_held(lane) < credits.shared_cap(lane), 1);
      expect_value("shared credit of a lane that has its own", own_free_[at].always(lane), 0);
    } else if (!divided) {
      expect_value("credit of its own", credits.own_free(lane) != 0, 1);
    }
    const hca::CreditSource source = is_shared ? hca::CreditSource::shared : hca::CreditSource::own;
    credits.take_from(lane, source);
    return source;
  }

  // A lane that starts has a command that is neither started nor dropped, and takes its credits now. A lane
  // that could start does so before the others have had many turns.
  void follow_starting() {
    if (rtl_.starting) {
      const uint32_t lane = rtl_.starting_lane;
      if (!has_command(lane))
        differ(place_, "lane that starts without a command", lane, lanes);
      taken_.push_back(
          {.lane = lane,
           .execution = take_credit(hca::CreditKind::execution, lane, rtl_.starting_execution_shared),
           .completion = take_credit(hca::CreditKind::completion, lane, rtl_.starting_completion_shared)});
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

  // A started command has left its list; it leaves the block when there is room.
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
    note_left(unit, taken.lane);
    on_list_.reset(unit.physical_collect_buffer());
    out_.push_back(unit);
  }

  void note_left(const KickUnit& unit, uint32_t lane) {
    const auto function = static_cast<uint32_t>(unit.underlying_function());
    --listed_[function];
    left_.push_back({.clock = place_.clock, .lane = lane, .function = function});
    if (left_.size() > 4)
      left_.pop_front();
  }

  // A dropped command at the head of its list is discarded.
  void follow_discarded() {
    if (!rtl_.discarded)
      return;
    KickUnit unit;
    expect_value("command discarded that was not dropped", model_.leave_list(rtl_.discarded_lane, unit), 1);
    const auto buffer = static_cast<uint32_t>(unit.physical_collect_buffer());
    expect_value("PCB of a dropped command", rtl_.discarded_physical_collect_buffer, buffer);
    dropped_.reset(buffer);
    on_list_.reset(buffer);
    note_left(unit, rtl_.discarded_lane);
    discard_waited_[rtl_.discarded_lane] = 0; // the wait of the next one begins
    ++discarded_;
  }

  // The model drops commands at once; the RTL takes a clock per entry, during which neither does anything
  // else.
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

  // At rest, all commands and credits are where they belong.
  void drop_all() {
    expect_value("commands on their way while others are dropped", taken_.size(), 0);
    model_.drop(dropped_number_);
    for (uint32_t buffer = 0; buffer < entries; ++buffer) {
      const auto& header = buffers_[buffer].header();
      if (!on_list_.test(buffer) || dropped_.test(buffer) || header.queue_pair_number() != dropped_number_)
        continue;
      dropped_.set(buffer);
      ++left_to_drop_;
      ended_at_[dropped_number_ % queue_pairs] = place_.clock + entries;
    }
  }

  // The model processes the finished commands, which must not start another one.
  void step_model() {
    kicks_started_.clear();
    while (kicks_started_.has_credit())
      kicks_started_.push({});
    model_.step();
    expect_value("commands started by the model", kicks_started_.credits(), 0);
  }

  // The kick in the last stage is listed, refused, or, if its queue pair no longer exists, its PCB is
  // released.
  void follow_last() {
    const std::optional<Stage>& last = stages_[stages - 1];
    const bool is_stale = rtl_.command_stale && !rtl_.dropped;
    const bool refuses = rtl_.release_buffer && !is_stale;
    expect_value("kicks that leave the last stage",
                 uint32_t{rtl_.listed} + uint32_t{is_stale} + uint32_t{refuses}, last.has_value());
    if (!last)
      return;
    const KickUnit& kick = last->kick;
    const auto function = static_cast<uint32_t>(kick.underlying_function());
    const auto number = static_cast<uint32_t>(kick.queue_pair_number());
    const uint32_t lane = rtl_.listed_lane;
    check_lane(*last, lane);
    if (rtl_.listed) {
      expect_value("command listed whose queue pair is pinned", last->pinned, 1);
      expect_value("entry credit of a command that is listed", has_entry_credit(kick), 1);
      expect_value("room for a command that is listed",
                   model_.lane_state(lane).commands() < model_.list_size(lane), 1);
      expect_value("queue pair pinned", queue_pair_state_cache_.pin(number), 1);
      model_.list(kick, lane);
      ++listed_[function];
      on_list_.set(kick.physical_collect_buffer());
      return;
    }
    expect_value("which PCB is given back", rtl_.release_physical_collect_buffer,
                 kick.physical_collect_buffer());
    collect_buffer_.release(static_cast<uint16_t>(kick.physical_collect_buffer()));
    if (is_stale) {
      expect_value("stale command whose queue pair is pinned", last->pinned, 0);
      expect_value("entry credit of a stale command", has_entry_credit(kick), 1);
      expect_value("function of a stale command", rtl_.counted_underlying_function, function);
      ++stale_;
      return;
    }
    // Commands that left their list in the last two clocks may still count.
    uint32_t of_function = listed_[function];
    uint32_t of_lane = static_cast<uint32_t>(model_.lane_state(lane).commands());
    for (const Left& left : left_)
      if (left.clock + 2 >= place_.clock) {
        of_function += left.function == function;
        of_lane += left.lane == lane;
      }
    const bool was_free = of_function < entry_credits_[function];
    const bool had_room = of_lane < model_.list_size(lane);
    expect_value("command refused that could be listed", was_free && (!last->pinned || had_room), 0);
    full_ += was_free;
    KickUnit refused = kick;
    refused.set_origin(spec::KickOrigin::send_queue_mode);
    refusals_.push_back(refused);
    if (last->pinned)
      unpin_refused_ = {.number = number};
  }

  // The lane of a kick: that of the last kick of its queue pair, if that kick was in the stages, or has
  // commands there, or had some until recently; else one of the least loaded lanes when it was chosen, and
  // exactly the lane of the rule if no other kick was near.
  void check_lane(const Stage& stage, uint32_t lane) {
    const auto number = static_cast<uint32_t>(stage.kick.queue_pair_number());
    const uint32_t index = number % queue_pairs;
    const hca::VirtualKickPort::QueuePairLane held = model_.queue_pair_lane(number);
    const bool follows = place_.clock - decided_at_[index] < 5 && place_.clock >= 5;
    const uint32_t last = decided_lane_[index];
    decided_lane_[index] = lane;
    decided_at_[index] = place_.clock;
    if (follows) {
      expect_value("lane of a queue pair's last kick", lane, last);
      return;
    }
    if (held.commands != 0) {
      expect_value("lane of a queue pair with commands", lane, held.lane);
      return;
    }
    if (lane == held.lane && place_.clock - ended_at_[index] < 16)
      return;
    const uint64_t usable = stage.own | stage.shared;
    if (usable == 0) // the map has changed since
      return;
    const auto load = [&](unsigned of) { return stage.loads[of]; };
    const uint32_t least = hca::least_loaded_lane(stage.own, stage.shared, stage.idle, load);
    expect_value("lane of its level", usable >> lane & 1, 1);
    expect_value("load of the lane", static_cast<uint64_t>(hca::load_class(load(lane))),
                 static_cast<uint64_t>(hca::load_class(load(least))));
    if (stage.alone)
      expect_value("lane of a queue pair that is on none", lane, least);
  }

  // The RTL accepts units that together return at most one credit of each kind and end at most one command.
  // It leaves no unit that it could accept as well, except that no command ends while a refused command is
  // unpinned.
  void follow_finishes(bool unpins_refused) {
    const bool may_end = !unpins_refused && dropping_clocks_ == 0;
    bool ends = false;
    std::vector<std::pair<uint32_t, FinishUnit>> taken;
    uint32_t offered = 0;
    uint32_t execution = 0;
    uint32_t completion = 0;
    for (uint32_t port = 0; port < ports; ++port) {
      if (finishes_[port].empty())
        continue;
      const FinishUnit unit = finishes_[port].front();
      const bool is_taken = (rtl_.finish_ready >> port & 1) != 0;
      waited_[port] = is_taken ? 0 : waited_[port] + 1;
      if (waited_[port] > clock_limit)
        differ(place_, "clocks that a finished command waited", waited_[port], clock_limit);
      if (unit.finished() != 0 && !may_end)
        expect_value("finished command taken", is_taken, 0);
      offered += unit.finished() == 0 || may_end;
      if (!is_taken)
        continue;
      execution += unit.execution_credit_returned() != 0;
      completion += unit.completion_credit_returned() != 0;
      if (unit.finished() != 0) {
        expect_value("second finished command in a clock", ends, 0);
        ends = true;
        unpin_ = {.number = static_cast<uint32_t>(unit.queue_pair_number()), .of_model = true};
      }
      taken.emplace_back(port, unit);
      finishes_[port].pop_front();
    }
    expect_value("finish taken", !taken.empty(), offered != 0);
    expect_value("second execution credit in a clock", execution > 1, 0);
    expect_value("second completion credit in a clock", completion > 1, 0);
    if (rtl_.dropped)
      unpin_ = {.number = dropped_number_};
    // The model processes those of the preceding clock.
    for (const auto& [port, unit] : ending_) {
      finish_links_[port].push(unit);
      if (unit.finished() != 0)
        ended_at_[unit.queue_pair_number() % queue_pairs] = place_.clock;
    }
    step_model();
    ending_ = std::move(taken);
  }

  // Kicks advance to the next stage; the first one waits for its entry, and while commands are dropped.
  void follow_stages(bool fetches) {
    std::optional<Stage>& first = stages_[0];
    expect_value("pin", rtl_.pin, stages_[3].has_value());
    if (stages_[3])
      expect_value("queue pair to pin", rtl_.pin_queue_pair_number, stages_[3]->kick.queue_pair_number());
    const bool leaves = first && !fetches && !stays_;
    const bool takes = open_ && (!first || leaves);
    for (uint32_t stage = stages - 1; stage > 1; --stage)
      stages_[stage] = std::exchange(stages_[stage - 1], std::nullopt);
    stages_[1].reset();
    if (leaves) {
      first->alone = (lately_ & 0xffff) == 0;
      stages_[1] = std::exchange(first, std::nullopt);
    }
    lately_ = lately_ << 1 | uint64_t{leaves};
    const bool scheduled = scheduled_ && rtl_.kick_scheduled_ready;
    const bool collected = collected_ && rtl_.kick_collected_ready;
    expect_value("kicks taken", uint64_t{scheduled} + collected, takes && (scheduled_ || collected_));
    if (scheduled && collected_ && scheduled_before_)
      differ(place_, "kick of the scheduler before its turn", 1, 0);
    if (scheduled || collected)
      scheduled_before_ = scheduled;
    if (scheduled)
      first = {.kick = *std::exchange(scheduled_, std::nullopt), .scheduled = true};
    if (collected)
      first = {.kick = *std::exchange(collected_, std::nullopt)};
  }

  // Kicks that were looked up before use the old values: entry credits and list sizes take effect after two
  // clocks.
  void follow_sizes() {
    if (entry_credits_due_[1]) {
      const auto [function, credits] = *entry_credits_due_[1];
      model_.set_entry_credits(function, credits);
      entry_credits_[function] = credits;
    }
    entry_credits_due_[1] = std::exchange(entry_credits_due_[0], std::nullopt);
    if (rtl_.set_entry_credits)
      entry_credits_due_[0] = {rtl_.set_entry_credits_underlying_function, rtl_.set_entry_credits_credits};
    if (sizes_due_[1])
      model_.set_list_size(sizes_due_[1]->first, sizes_due_[1]->second);
    sizes_due_[1] = std::exchange(sizes_due_[0], std::nullopt);
    if (rtl_.set_list_size)
      sizes_due_[0] = {rtl_.set_list_size_lane, rtl_.set_list_size_commands};
  }

  void follow_settings() {
    const uint64_t divided = uint64_t{1} << rtl_.set_credits_lane;
    credits_set_[0].note(rtl_.set_execution_credits ? divided : 0);
    credits_set_[1].note(rtl_.set_completion_credits ? divided : 0);
    if (rtl_.set_lanes)
      expect_value(
          "lanes allowed", rtl_.set_lanes_allowed,
          model_.set_lanes(rtl_.set_lanes_underlying_function,
                           static_cast<spec::QualityOfServiceLevel>(rtl_.set_lanes_quality_of_service_level),
                           rtl_.set_lanes_lanes));
    if (rtl_.set_shared_lanes)
      expect_value("shared lanes allowed", rtl_.set_shared_lanes_allowed,
                   model_.set_shared_lanes(rtl_.set_lanes_lanes));
    follow_sizes();
    if (rtl_.fetched_lanes)
      invalid_ &= ~(1U << fetched_entry_);
    if (rtl_.invalidate_lanes)
      invalid_ |= static_cast<uint32_t>(rtl_.invalidate_lanes_entries);
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
