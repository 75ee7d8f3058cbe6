#pragma once

#include "virtual_kick_drive.h"

#include <algorithm>
#include <cstdint>

namespace fpga_verbs::bench {

// The state that virtual_kick tells, beside the model's: of a lane, a function and a queue pair that chance
// has chosen.
class ComparedVirtualKick : protected DrivenVirtualKick {
protected:
  using DrivenVirtualKick::DrivenVirtualKick;

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
};

} // namespace fpga_verbs::bench
