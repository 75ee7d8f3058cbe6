#pragma once

#include "Vhca_front.h"
#include "axi_host.h"
#include "bench.h"
#include "spec/data_units.h"
#include "spec/enums.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {

using Bytes = std::vector<uint8_t>;

// The block behind hca_front: it accepts beats of the stream at random, compares each command with the one
// written, and ends it at once: it returns PCB and credits, and reports a kick record.
class CommandStream {
public:
  CommandStream(Vhca_front& rtl, Random& random, const Place& place)
      : rtl_(rtl), random_(random), place_(place) {}

  // A command to be received: header and payload.
  void await(uint16_t sequence_number, Bytes bytes) { awaited_[sequence_number] = std::move(bytes); }
  // The last write of a command is done.
  void note_write() { last_write_ = place_.clock; }
  size_t awaited() const { return awaited_.size(); }
  void forget() { awaited_.clear(); }
  // Accepts no beat while set.
  void hold(bool is_held) { is_held_ = is_held; }

  uint64_t beats() const { return beats_; }
  // Clocks from the last write to the first beat.
  uint64_t most_latency() const { return most_latency_; }
  // Of the last received command.
  uint32_t last_lane() const { return last_lane_; }

  // Before the rising edge.
  void drive() { rtl_.command_tready = !is_held_ && random_.percent(70); }

  // After evaluation, before the edge, at which these signals are exchanged.
  void take() {
    is_reset_ = rtl_.device_reset;
    was_taken_ = rtl_.finish && rtl_.finish_ready;
    was_released_ = rtl_.release_command && rtl_.release_command_ready;
    was_recorded_ = rtl_.record && rtl_.record_ready;
    const bool comes = rtl_.command_tvalid && rtl_.command_tready;
    if (comes)
      take_beat();
    ends_ = comes && rtl_.command_tlast;
    std::memcpy(&unit_, &rtl_.command_tuser, sizeof(unit_));
  }

  // After the edge.
  void settle() {
    if (was_taken_)
      rtl_.finish = 0;
    if (was_released_)
      rtl_.release_command = 0;
    if (was_recorded_)
      rtl_.record = 0;
    if (is_reset_) {
      rtl_.finish = rtl_.release_command = rtl_.record = 0;
      expect(place_, "a command is not cut", command_.size(), 0);
    } else if (ends_) {
      compare();
      finish();
    }
  }

private:
  void take_beat() {
    if (command_.empty() && last_write_ != 0)
      most_latency_ = std::max(most_latency_, place_.clock - last_write_);
    if (command_.empty())
      rtl_.record_begin = rtl_.now;
    ++beats_;
    const Bytes beat = kept_bytes(rtl_.command_tdata, rtl_.command_tkeep);
    command_.insert(command_.end(), beat.begin(), beat.end());
  }

  void compare() {
    const auto sent = awaited_.find(static_cast<uint16_t>(unit_.send_queue_sequence_number()));
    expect(place_, "a command that was written", sent != awaited_.end(), 1);
    expect(place_, "bytes of a command", command_.size(), sent->second.size());
    for (size_t at = 0; at < command_.size(); ++at)
      expect(place_, "a byte of a command", command_[at], sent->second[at]);
    awaited_.erase(sent);
    command_.clear();
  }

  void finish() {
    last_lane_ = unit_.transmit_virtual_lane();
    rtl_.release_command = 1;
    rtl_.release_command_physical_collect_buffer = static_cast<uint8_t>(unit_.physical_collect_buffer());
    spec::FinishUnit ended;
    ended.set_physical_collect_buffer(unit_.physical_collect_buffer());
    ended.set_transmit_virtual_lane(unit_.transmit_virtual_lane());
    ended.set_underlying_function(unit_.underlying_function());
    ended.set_quality_of_service_level(unit_.quality_of_service_level());
    ended.set_execution_credit_shared(unit_.execution_credit_shared());
    ended.set_completion_credit_shared(unit_.completion_credit_shared());
    ended.set_execution_credit_returned(1);
    ended.set_completion_credit_returned(1);
    ended.set_finished(1);
    ended.set_queue_pair_number(unit_.queue_pair_number());
    std::memcpy(&rtl_.finish_unit, &ended, sizeof(ended));
    rtl_.finish = 1;
    expect(place_, "the record before", rtl_.record, 0);
    rtl_.record = 1;
    rtl_.record_type = static_cast<uint8_t>(spec::KickRecordType::sent);
    rtl_.record_opcode = static_cast<uint8_t>(spec::Opcode::send);
    std::memcpy(&rtl_.record_unit, &unit_, sizeof(unit_));
  }

  Vhca_front& rtl_;
  Random& random_;
  const Place& place_;
  bool is_held_ = false;
  std::map<uint16_t, Bytes> awaited_; // By sequence number.
  Bytes command_;                     // The command being received.
  spec::KickUnit unit_;               // The unit of the beat.
  bool is_reset_ = false;
  bool was_taken_ = false;
  bool was_released_ = false;
  bool was_recorded_ = false;
  bool ends_ = false;
  uint64_t beats_ = 0;
  uint64_t last_write_ = 0;
  uint64_t most_latency_ = 0;
  uint32_t last_lane_ = 0;
};

} // namespace fpga_verbs::bench
