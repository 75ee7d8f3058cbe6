#pragma once

#include "virtual_kick_pair.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace fpga_verbs::bench {

// Drives virtual_kick in each clock, from the seed: kicks, commands that end, changes of the mapping table
// and of the division.
class DrivenVirtualKick : protected VirtualKickPair {
protected:
  using VirtualKickPair::VirtualKickPair;

  // Percentages that stay for a while, so that lists, credits and entries become full and empty.
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
    // Sometimes the number of a former queue pair.
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
    if (std::optional<Stage>& asked = stages_[4]) { // in the preceding clock
      const auto number = static_cast<uint32_t>(asked->kick.queue_pair_number());
      asked->pinned = number >> spec::queue_pair_index_bits == 0;
      rtl_.pinned = asked->pinned;
      pins_[number % queue_pairs] += asked->pinned;
    }
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

  // Started commands end in any order: at once, or with the packets and then with the acknowledgement.
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
};

} // namespace fpga_verbs::bench
