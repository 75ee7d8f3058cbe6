#pragma once

#include "Vdma.h"
#include "dma_model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <set>
#include <vector>

namespace fpga_verbs::bench {

// Packet memory, PCBs and the block that holds the keys, as dma sees them. Each buffer has one owner at a
// time.
class DmaSurroundings {
public:
  static constexpr uint32_t packets = spec::request_packet_buffers + spec::response_packet_buffers;
  static constexpr uint32_t most_on_the_way = 16;

  DmaSurroundings(const Place& place, Random& random, DmaModel& model)
      : place_(place), random_(random), model_(model), bytes_(packets) {
    for (uint32_t packet = 0; packet < packets; ++packet)
      free_.push_back(packet);
    for (std::vector<uint8_t>& each : bytes_)
      each.resize(spec::packet_buffer_bytes);
  }

  uint32_t ready = 100;

  const uint8_t* payload(uint32_t packet) const { return bytes_[packet].data() + spec::packet_headroom; }
  bool is_taken(uint32_t packet) const { return taken_.contains(packet); }
  size_t taken() const { return taken_.size(); }
  void release(uint32_t packet) {
    if (taken_.erase(packet) == 0)
      differ(place_, "packet that comes back, and is not taken", packet, 0);
    free_.push_back(packet);
  }

  void serve(Vdma& rtl) {
    rtl.packets_free = spec::request_packet_buffers - taken_.size();
    rtl.has_free = random_.percent(ready);
    rtl.free_packet = free_.front();
    rtl.pcb_read_ready = random_.percent(ready);
    rtl.local_operation_ready = random_.percent(ready);
    if (reads_pcb_)
      std::memcpy(&rtl.pcb_read_data, model_.pcb(pcb_).data.data() + pcb_beat_ * BEAT_BYTES, BEAT_BYTES);
    else
      spoil(rtl);
    if (!rtl.local_done && !local_.empty() && random_.percent(ready / 4)) {
      const size_t at = random_.below(static_cast<uint32_t>(local_.size()));
      rtl.local_done = 1;
      rtl.local_done_physical_collect_buffer = local_[at].buffer;
      rtl.local_done_refused = local_[at].is_refused;
      local_.erase(local_.begin() + static_cast<ptrdiff_t>(at));
    }
  }

  void take(Vdma& rtl) {
    if (rtl.allocate) {
      expect(place_, "packets on the way when one more is", taken_.size() < most_on_the_way, 1);
      taken_.insert(free_.front());
      free_.pop_front();
    }
    if (rtl.give_back)
      release(rtl.give_back_packet);
    if (rtl.packet_write) {
      if (!is_taken(rtl.packet_write_packet))
        differ(place_, "packet that is written, and is not taken", rtl.packet_write_packet, 0);
      std::array<uint8_t, BEAT_BYTES> beat;
      std::memcpy(beat.data(), &rtl.packet_write_data, BEAT_BYTES);
      for (uint32_t lane = 0; lane < BEAT_BYTES; ++lane)
        if ((static_cast<uint64_t>(rtl.packet_write_strobe) >> lane & 1) != 0)
          bytes_[rtl.packet_write_packet].at(rtl.packet_write_place * BEAT_BYTES + lane) = beat[lane];
    }
    reads_pcb_ = rtl.pcb_read && rtl.pcb_read_ready;
    pcb_ = rtl.pcb_read_buffer;
    pcb_beat_ = rtl.pcb_read_beat;
    is_local_done_ = rtl.local_done && rtl.local_done_ready;
  }
  void end(Vdma& rtl) {
    if (is_local_done_)
      rtl.local_done = 0;
  }
  // A bind or local invalidate, whose outcome is the model's.
  void begin_local(uint32_t buffer, bool is_refused) { local_.push_back({buffer, is_refused}); }

private:
  struct Local {
    uint32_t buffer = 0;
    bool is_refused = false;
  };

  void spoil(Vdma& rtl) {
    std::array<uint8_t, BEAT_BYTES> beat;
    fill(random_, beat);
    std::memcpy(&rtl.pcb_read_data, beat.data(), BEAT_BYTES);
  }

  const Place& place_;
  Random& random_;
  DmaModel& model_;
  std::vector<std::vector<uint8_t>> bytes_;
  std::deque<uint32_t> free_;
  std::set<uint32_t> taken_;
  std::vector<Local> local_;
  bool reads_pcb_ = false;
  uint32_t pcb_ = 0;
  uint32_t pcb_beat_ = 0;
  bool is_local_done_ = false;
};

} // namespace fpga_verbs::bench
