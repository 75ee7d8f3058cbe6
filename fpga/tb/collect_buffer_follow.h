#pragma once

#include "collect_buffer_compare.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace fpga_verbs::bench {

// The model executes each write and control command when collect_buffer reports that it is done. The bench
// reads back commands that were kicked or fetched.
class FollowedCollectBuffer : protected ComparedCollectBuffer {
public:
  using ComparedCollectBuffer::ComparedCollectBuffer;

protected:
  void follow() {
    answer();
    keep_units();
    if (rtl_.control_done)
      follow_control();
    if (rtl_.beat_done) {
      // Beats of one page are done in order. Beats of other pages may pass a command whose checksum is
      // computed again.
      const auto done = std::find_if(writes_.begin(), writes_.end(), [&](const TakenBeat& taken) {
        return taken.write.page == rtl_.beat_page;
      });
      if (done == writes_.end())
        differ(place_, "page of the beat that is done", rtl_.beat_page, vcbs + functions);
      passed_ += done != writes_.begin();
      TakenBeat beat = *done;
      const uint64_t clock = beat.clock;
      writes_.erase(done);
      beat.write.data = beat.data.data();
      // The RTL may not know yet of PCBs released in recent clocks.
      const bool early = rtl_.send_queue_mode_entered && place_.clock < came_back_ + comes_back_late;
      const uint32_t free = free_of_model();
      if (early)
        write_without_buffers(beat.write);
      else
        write_model(beat.write);
      note_return(free);
      if (rtl_.refused) // one that was accepted for the same write
        came_back_ = place_.clock;
      if (!kicks_collected_.empty() || !management_units_.empty()) {
        const auto latency = static_cast<uint32_t>(place_.clock - paused_ + 1 - clock);
        most_latency_ = std::max(most_latency_, latency);
        if (latency > longest_wait)
          differ(place_, "clocks to a kick", latency, longest_wait);
      }
    }
    if (rtl_.beat_done || rtl_.control_done)
      compare_units();
    if (rtl_.release_buffer) {
      model_.release(kicked_.front().model);
      came_back_ = place_.clock;
      if (kicked_.front().model == fetching_)
        fetching_ = hca::no_buffer;
      kicked_.pop_front();
    }
    follow_fetch();
    compare_stored();
    if (rests_ && writes_.empty() && controls_.empty() && !rtl_.bvalid && !host_waits()) {
      expect_value("responses owed", 0, owed_responses_);
      for (uint32_t page = 0; page < 4; ++page)
        compare_state(random_.below(vcbs));
      compare_free();
      rests_ = false;
    }
  }

  // A write to a VCB without a PCB in the model, as if all PCBs were in use.
  void write_without_buffers(hca::BarWrite& write) {
    std::array<hca::CollectAllotment, functions> allotments;
    for (uint32_t function = 0; function < functions; ++function)
      allotments[function] = model_.groups().allotment(function);
    const uint32_t owner = write.page < vcbs ? writes_of_host_.owner_of(write.page) : 0;
    const uint32_t other = (owner + 1) % functions;
    const uint64_t entered = counters_.function[owner].send_queue_mode_entered;
    for (uint32_t function = 0; function < functions; ++function)
      model_.set_allotment(function, {});
    if (!model_.set_allotment(other, {.low = pcbs}))
      std::abort();
    write_model(write);
    model_.set_allotment(other, {});
    for (uint32_t function = 0; function < functions; ++function)
      if (!model_.set_allotment(function, allotments[function]))
        std::abort();
    said_early_ += counters_.function[owner].send_queue_mode_entered - entered;
  }

  void write_model(hca::BarWrite& write) {
    if (write.page < vcbs) {
      model_.write(write);
      return;
    }
    write.offset += spec::underlying_function::management_page;
    model_.write_management_page(write.page - vcbs, write);
  }

  void follow_control() {
    const uint32_t free = free_of_model();
    follow_command();
    note_return(free);
  }

  void follow_command() {
    const auto [command, page] = controls_.front();
    controls_.pop_front();
    const unsigned function = page - vcbs; // of a management page
    std::optional<uint16_t> granted;
    switch (command) {
    case Control::cancel:
      model_.cancel(page);
      return;
    case Control::close:
      if (page < vcbs)
        model_.close(page);
      else
        model_.unlock_management(function);
      return;
    case Control::open:
      model_.open(page);
      return;
    case Control::settle_division: // only from settle_division()
      return;
    case Control::take_kick_number:
      expect_value("number of a kick", spec_unit<spec::KickUnit>(rtl_.kick_unit).kick_number(),
                   model_.take_kick_number());
      return;
    case Control::lock:
      granted = model_.lock_management(function);
      if (granted && !rtl_.control_granted)
        model_.unlock_management(function);
      break;
    case Control::take_dedicated:
    case Control::take_management:
      granted = command == Control::take_dedicated ? model_.take_dedicated() : model_.take_management();
      if (granted && rtl_.control_granted) {
        kicked_.push_back({*granted, rtl_.control_physical_collect_buffer});
        begin_fetch(kicked_.back());
      } else if (granted) {
        model_.release(*granted);
      }
      break;
    }
    // The RTL may not know yet of a PCB released in recent clocks.
    if (granted && !rtl_.control_granted && place_.clock < came_back_ + comes_back_late)
      return;
    expect_value("dedicated PCB granted", rtl_.control_granted, granted.has_value());
    if (granted)
      expect_value("kind of the dedicated PCB", kind_of(rtl_.control_physical_collect_buffer),
                   kind_of(*granted));
  }

  // Fetches a command into an allocated PCB, one beat per clock in which the host writes none.
  void begin_fetch(const Buffer& buffer) {
    if (fetching_ != hca::no_buffer)
      return;
    hca::PhysicalCollectBuffer& pcb = buffers_[buffer.model];
    for (uint8_t& byte : pcb.data)
      byte = static_cast<uint8_t>(random_.bits());
    spec::CommandHeader header;
    header.set_length(random_.below(spec::command_payload_bytes + 1));
    std::memcpy(pcb.data.data(), header.dwords.data(), spec::segment_bytes);
    fetching_ = buffer.model;
    rtl_fetching_ = buffer.rtl;
    fetched_beats_ = 0;
  }

  void follow_fetch() {
    if (fetching_ == hca::no_buffer || !stores_)
      return;
    ++fetched_beats_;
    hca::PhysicalCollectBuffer& pcb = buffers_[fetching_];
    if (fetched_beats_ * beat_bytes < hca::segments_needed(pcb.header().length()) * spec::segment_bytes)
      return;
    pcb.state = PhysicalCollectBufferState::kicked;
    stored_ = std::exchange(fetching_, hca::no_buffer);
    rtl_stored_ = rtl_fetching_;
    stored_beat_ = 0;
    stored_asked_ = false;
    ++fetched_;
  }

  // Reads back a kicked command, one beat per clock, until its PCB is released.
  void compare_stored() {
    if (stored_ != hca::no_buffer && stored_asked_ &&
        buffers_[stored_].state == PhysicalCollectBufferState::kicked) {
      const uint32_t at = stored_beat_ * beat_bytes;
      const uint32_t used = hca::segments_needed(buffers_[stored_].header().length()) * spec::segment_bytes;
      if (at < used) {
        const uint32_t bytes = std::min(beat_bytes, used - at);
        if (std::memcmp(&rtl_.read_data, buffers_[stored_].data.data() + at, bytes) != 0)
          differ(place_, "stored command, at byte", at, used);
        ++stored_beat_;
      } else {
        stored_ = hca::no_buffer;
      }
    }
    stored_asked_ = stored_ != hca::no_buffer;
    rtl_.read_physical_collect_buffer = static_cast<uint8_t>(stored_ == hca::no_buffer ? 0 : rtl_stored_);
    rtl_.read_beat = stored_beat_;
  }
};

} // namespace fpga_verbs::bench
