#pragma once

#include "collect_buffer_pair.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace fpga_verbs::bench {

// Drives the ports of collect_buffer in each clock, from the seed: bursts of the host, control commands,
// released PCBs, answers about queue pairs. It records which inputs the RTL accepts.
class DrivenCollectBuffer : protected CollectBufferPair {
public:
  using CollectBufferPair::CollectBufferPair;

protected:
  void tick() {
    rtl_.clock = 0;
    rtl_.eval();
    before_edge();
    rtl_.clock = 1;
    rtl_.eval();
  }

  void drive() {
    if (bursts_.size() < 4)
      writes_of_host_.choose();
    gap_ = gap_ ? !random_.once(3) : random_.once(40);
    if (random_.once(100))
      rests_ = true; // until everything is done and compared
    // Sometimes the host accepts no response for so long that the RTL reaches its limit of outstanding ones.
    holds_responses_ = !rests_ && (holds_responses_ ? !host_random_.once(100) : host_random_.once(2000));
    rtl_.bready = !random_.once(5) && !holds_responses_;
    // An offer stays until it is accepted.
    rtl_.awvalid = address_waits_ ||
                   (addressed_ < bursts_.size() && addressed_ < 2 && !gap_ && (!rests_ || data_waits_));
    if (rtl_.awvalid) {
      const Burst& burst = bursts_[addressed_];
      rtl_.awaddr = burst.beats[0].address;
      rtl_.awlen = static_cast<uint8_t>(burst.beats.size() - 1);
      rtl_.awsize = burst.size;
      rtl_.awuser = burst.beats[0].user;
    }
    rtl_.wvalid = data_waits_ || (!bursts_.empty() && !gap_ && (!rests_ || address_waits_));
    // Sometimes there is no room for so long that a block that ignores this would overflow.
    if (without_room_ == 0 && host_random_.once(5000))
      without_room_ = 600;
    without_room_ -= without_room_ != 0;
    paused_ += without_room_ != 0;
    rtl_.unit_credit = without_room_ == 0 && !random_.once(30);
    if (rtl_.wvalid) {
      const Beat& beat = bursts_[0].beats[beat_];
      std::memcpy(&rtl_.wdata, beat.data.data(), beat_bytes);
      rtl_.wstrb = beat.strobes;
      rtl_.wlast = beat.last;
    }
    if (!kicked_.empty() && kicked_.front().model == fetching_ &&
        !random_.once(4)) { // most are fetched completely
      kicked_.push_back(kicked_.front());
      kicked_.pop_front();
    }
    rtl_.release_buffer = !kicked_.empty() && random_.once(static_cast<uint32_t>(release_pace_));
    if (rtl_.release_buffer)
      rtl_.release_physical_collect_buffer = static_cast<uint8_t>(kicked_.front().rtl);
    rtl_.store = fetching_ != hca::no_buffer && !random_.once(3);
    if (rtl_.store) {
      rtl_.store_physical_collect_buffer = static_cast<uint8_t>(rtl_fetching_);
      rtl_.store_beat = fetched_beats_;
      std::memcpy(&rtl_.store_data, buffers_[fetching_].data.data() + fetched_beats_ * beat_bytes,
                  beat_bytes);
    }
    rtl_.eval();
    rtl_.control = rtl_.control_ready && random_.once(50) && !rests_;
    const Control command = choose_control();
    rtl_.control_command = static_cast<uint8_t>(command);
    rtl_.control_page = random_.below(vcbs);
    if (command == Control::lock || (command == Control::close && random_.once(2)))
      rtl_.control_page = vcbs + random_.below(functions);
    if (opening_ < vcbs && rtl_.control_ready) { // a VCB that was closed for long
      rtl_.control = 1;
      rtl_.control_command = static_cast<uint8_t>(Control::open);
      rtl_.control_page = opening_++;
    }
    if (rtl_.control)
      controls_.push_back({static_cast<Control>(rtl_.control_command), rtl_.control_page});
  }

  // Locks are frequent, so that management pages collect commands.
  Control choose_control() {
    return random_.once(3) ? static_cast<Control>(random_.below(7)) : Control::lock;
  }

  // Whether an offer of the host has not been accepted yet.
  bool host_waits() const { return address_waits_ || data_waits_; }

  // Handshakes of this clock, and the next answer of the queue pair state cache.
  void before_edge() {
    stores_ = rtl_.store && rtl_.store_ready;
    const bool taken = rtl_.wvalid && rtl_.wready && !rtl_.reset;
    on_end_ = taken ? on_end_ + 1 : 0;
    most_on_end_ = std::max(most_on_end_, on_end_);
    address_waits_ = rtl_.awvalid && !rtl_.awready && !rtl_.reset;
    data_waits_ = rtl_.wvalid && !rtl_.wready && !rtl_.reset;
    if (rtl_.bvalid && rtl_.bready && !rtl_.reset) {
      if (owed_responses_ == 0)
        differ(place_, "responses owed", 1, 0);
      --owed_responses_;
    }
    if (rtl_.awvalid && rtl_.awready && !rtl_.reset)
      ++addressed_;
    if (taken) {
      const Beat& beat = bursts_[0].beats[beat_];
      TakenBeat taken_beat{.write = {}, .clock = place_.clock - paused_};
      hca::BarWrite& write = taken_beat.write;
      write.region = spec::RegionType::virtual_collect_buffer;
      constexpr uint32_t known = functions > 1 ? 1U << std::bit_width(functions - 1) : 2;
      if ((beat.user & known) != 0)
        write.underlying_function = static_cast<uint8_t>(beat.user & ~known);
      write.page = static_cast<uint16_t>(beat.address / page_bytes);
      write.offset = beat.address % page_bytes;
      const uint32_t lane = beat.address % beat_bytes;
      write.length = beat_bytes - lane;
      write.byte_enables = beat.strobes >> lane;
      std::memcpy(taken_beat.data.data(), beat.data.data() + lane, write.length);
      writes_.push_back(taken_beat);
      if (++beat_ == bursts_[0].beats.size()) {
        bursts_.pop_front();
        ++owed_responses_;
        beat_ = 0;
        --addressed_;
      }
      ++beats_;
    }
    const spec::QueuePairControl* control =
        rtl_.find ? queue_pairs_.find_control(rtl_.find_underlying_function, rtl_.find_queue_pair_number)
                  : nullptr;
    found_ = control != nullptr;
    if (found_)
      found_control_ = *control;
  }

  void answer() {
    rtl_.queue_pair_found = found_;
    if (found_) {
      rtl_.queue_pair_quality_of_service_level =
          static_cast<uint8_t>(found_control_.quality_of_service_level());
      rtl_.queue_pair_checksum_secret = found_control_.checksum_secret();
    }
  }
};

} // namespace fpga_verbs::bench
