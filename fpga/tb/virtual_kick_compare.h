#pragma once

#include "hca/kick/lane_choice.h"
#include "virtual_kick_drive.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace fpga_verbs::bench {

// Compares the state that virtual_kick reports with the model's, for a random lane, function and queue pair.
class ComparedVirtualKick : protected DrivenVirtualKick {
protected:
  using DrivenVirtualKick::DrivenVirtualKick;

  void compare_state() {
    const uint32_t step = place_.clock % 8;
    if (step == 0)
      asked_ = {
          .lane = random_.below(lanes), .function = random_.below(functions), .level = random_.below(2)};
    const auto [lane, function, level] = asked_;
    rtl_.query_lane = static_cast<uint8_t>(lane);
    rtl_.query_underlying_function = static_cast<uint8_t>(function);
    rtl_.outlook_underlying_function = static_cast<uint8_t>(function);
    rtl_.outlook_quality_of_service_level = static_cast<uint8_t>(level);
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
    compare_outlook(step);
    if (left_to_drop_ != 0)
      return;
    expect_value("commands of a function", rtl_.query_function_commands, model_.commands(function));
    compare_inspected();
    const uint32_t number = live_[random_.below(static_cast<uint32_t>(live_.size()))];
    // Pins of kicks in the stages, and of kicks that were refused or dropped in this clock.
    uint32_t undecided = unpin_ && !unpin_->of_model && unpin_->number == number;
    undecided += unpin_refused_ && unpin_refused_->number == number;
    for (const std::optional<Stage>& stage : stages_)
      undecided += stage && stage->pinned && stage->kick.queue_pair_number() == number;
    expect_value("pins of a queue pair", pins_[number % queue_pairs] - undecided,
                 queue_pair_state_cache_.pins(number));
  }

  // The state from which virtual_kick computes the figures for send_queue_scheduler, of the queried lane and
  // level.
  struct Outlook {
    uint32_t commands = 0;
    uint32_t size = 0;             // of the list, two clocks earlier
    std::array<uint32_t, 2> own{}; // credits, by CreditKind
    std::array<uint32_t, 2> below_cap{};
    std::array<uint32_t, 2> shared{};
    uint64_t own_lanes = 0;
    uint64_t shared_lanes = 0;
    std::array<uint32_t, lanes> loads{};
    bool dropping = false;
  };

  Outlook outlook() const {
    Outlook now{.commands = static_cast<uint32_t>(model_.lane_state(asked_.lane).commands()),
                .size = model_.list_size(asked_.lane),
                .own_lanes =
                    model_.lanes(asked_.function, static_cast<spec::QualityOfServiceLevel>(asked_.level)),
                .shared_lanes = model_.shared_lanes(),
                .dropping = left_to_drop_ != 0};
    for (const hca::CreditKind kind : {hca::CreditKind::execution, hca::CreditKind::completion}) {
      const hca::LaneCredits& credits = model_.credits(kind);
      const auto at = static_cast<size_t>(kind);
      now.own[at] = credits.own_free(asked_.lane);
      now.below_cap[at] = credits.shared_cap(asked_.lane) -
                          std::min(credits.shared_cap(asked_.lane), credits.shared_held(asked_.lane));
      now.shared[at] = credits.shared_free();
    }
    for (uint32_t lane = 0; lane < lanes; ++lane)
      now.loads[lane] = model_.load(lane);
    return now;
  }

  // Figures for send_queue_scheduler, each computed from the state some clocks earlier.
  void compare_outlook(uint32_t step) {
    std::rotate(outlooks_.begin(), outlooks_.end() - 1, outlooks_.end());
    outlooks_[0] = outlook();
    expect_value("fetched command on a lane", rtl_.outlook_has_fetched,
                 model_.outlook(asked_.lane).has_fetched);
    expect_value("entry to be read again", rtl_.outlook_lane_invalid,
                 invalid_ >> (asked_.function * 2 + asked_.level) & 1);
    if (step != 7)
      return;
    expect_value("room on a lane", rtl_.outlook_room,
                 outlooks_[0].size - std::min(outlooks_[0].size, outlooks_[2].commands));
    const auto available = [this](hca::CreditKind kind) {
      const auto at = static_cast<size_t>(kind);
      return outlooks_[5].own[at] + std::min(outlooks_[4].shared[at], outlooks_[5].below_cap[at]);
    };
    const uint32_t credits =
        std::min(available(hca::CreditKind::execution), available(hca::CreditKind::completion));
    expect_value("credits beyond a list", rtl_.outlook_credits,
                 credits - std::min(credits, outlooks_[5].commands));
    if (outlooks_[5].dropping || outlooks_[4].dropping)
      return;
    const std::array<uint32_t, lanes>& loads = outlooks_[5].loads;
    uint64_t idle = 0;
    for (uint32_t lane = 0; lane < lanes; ++lane)
      idle |= uint64_t{loads[lane] == 0} << lane;
    if ((outlooks_[5].own_lanes | outlooks_[4].shared_lanes) != 0)
      expect_value("next lane of a level", rtl_.outlook_lane,
                   hca::least_loaded_lane(outlooks_[5].own_lanes, outlooks_[4].shared_lanes, idle,
                                          [&](unsigned lane) { return loads[lane]; }));
  }

  // The lane of a queue pair a few clocks ago; not compared if a command was dropped since.
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

  struct Asked {
    uint32_t lane = 0;
    uint32_t function = 0;
    uint32_t level = 0;
  };
  Asked asked_;
  std::array<Outlook, 6> outlooks_; // newest first
};

} // namespace fpga_verbs::bench
