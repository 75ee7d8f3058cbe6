#pragma once

#include "Vpacket_builder.h"
#include "packet_builder_model.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

namespace fpga_verbs::bench {

// The plan of an execution as the bits of execution_plan_t.
class PlanBits {
public:
  static constexpr unsigned words = 18;

  explicit PlanBits(const hca::Execution& plan) {
    put(plan.message_length, 32);
    put(plan.packets, 24);
    put(plan.first_psn, 24);
    put(plan.next_packet, 24);
    put(plan.retry_epoch, 7);
    put(plan.begun, 64);
    for (const uint32_t dword : plan.destination.dwords)
      put(dword, 32);
  }
  std::array<uint32_t, words> bits{};

private:
  void put(uint64_t value, unsigned width) {
    for (unsigned bit = 0; bit < width; ++bit, ++place_)
      bits[place_ / 32] |= static_cast<uint32_t>(value >> bit & 1) << place_ % 32;
  }
  unsigned place_ = 0;
};

// Packet memory, PCBs and plans, as packet_builder sees them. Data that it does not request are random.
class PacketBuilderSurroundings {
public:
  static constexpr uint32_t packets = spec::request_packet_buffers + spec::response_packet_buffers;

  PacketBuilderSurroundings(const Place& place, Random& random, PacketBuilderModel& model)
      : place_(place), random_(random), model_(model), bytes_(packets), is_taken_(packets) {
    for (uint32_t packet = 0; packet < packets; ++packet)
      free_.push_back(packet);
    for (std::vector<uint8_t>& each : bytes_)
      each.resize(spec::packet_buffer_bytes);
  }

  uint32_t ready = 100;

  size_t free() const { return free_.size(); }
  uint32_t take(const std::vector<uint8_t>& payload) {
    const uint32_t packet = free_.front();
    free_.pop_front();
    is_taken_[packet] = true;
    std::memcpy(bytes_[packet].data() + spec::packet_headroom, payload.data(), payload.size());
    return packet;
  }

  void serve(Vpacket_builder& rtl) {
    rtl.pcb_read_ready = random_.percent(ready);
    rtl.packet_read_ready = random_.percent(ready);
    rtl.give_back_ready = random_.percent(ready);
    std::array<uint8_t, BEAT_BYTES> beat;
    fill(random_, beat);
    if (reads_pcb_)
      std::memcpy(beat.data(), model_.pcb(pcb_).data.data() + pcb_beat_ * BEAT_BYTES, BEAT_BYTES);
    std::memcpy(&rtl.pcb_read_data, beat.data(), BEAT_BYTES);
    std::memcpy(&rtl.packet_read_data, reads_[latency - 1].data(), BEAT_BYTES);
    const PlanBits plan(model_.pcb(plan_).execution);
    std::memcpy(&rtl.plan_of_command, plan.bits.data(), sizeof plan.bits);
  }

  void observe(const Vpacket_builder& rtl, uint64_t now) {
    reads_pcb_ = rtl.pcb_read && rtl.pcb_read_ready;
    pcb_ = rtl.pcb_read_buffer;
    pcb_beat_ = rtl.pcb_read_beat;
    plan_ = rtl.plan_physical_collect_buffer;
    for (unsigned clock = latency - 1; clock > 0; --clock)
      reads_[clock] = reads_[clock - 1];
    fill(random_, reads_[0]);
    if (rtl.packet_read && rtl.packet_read_ready) {
      if (!is_taken_[rtl.packet_read_packet])
        differ(place_, "packet that is read, and is not taken", rtl.packet_read_packet, 0);
      std::memcpy(reads_[0].data(),
                  bytes_[rtl.packet_read_packet].data() + size_t{rtl.packet_read_place} * BEAT_BYTES,
                  BEAT_BYTES);
    }
    if (rtl.give_back && rtl.give_back_ready)
      give_back(rtl.give_back_packet, now);
    while (!coming_.empty() && coming_.front().due <= now) {
      fill(random_, bytes_[coming_.front().packet]);
      free_.push_back(coming_.front().packet);
      coming_.pop_front();
    }
  }
  bool is_at_rest() const { return free_.size() == packets; }

private:
  static constexpr unsigned latency = 3;
  static constexpr uint64_t clocks_of_return = 6;
  struct Coming {
    uint32_t packet = 0;
    uint64_t due = 0;
  };

  void give_back(uint32_t packet, uint64_t now) {
    if (!is_taken_[packet])
      differ(place_, "packet that comes back, and is not taken", packet, 0);
    is_taken_[packet] = false;
    coming_.push_back({.packet = packet, .due = now + clocks_of_return});
  }

  const Place& place_;
  Random& random_;
  PacketBuilderModel& model_;
  std::vector<std::vector<uint8_t>> bytes_;
  std::vector<bool> is_taken_;
  std::deque<uint32_t> free_;
  std::deque<Coming> coming_;
  std::array<std::array<uint8_t, BEAT_BYTES>, latency> reads_{};
  bool reads_pcb_ = false;
  uint32_t pcb_ = 0;
  uint32_t pcb_beat_ = 0;
  uint32_t plan_ = 0;
};

} // namespace fpga_verbs::bench
