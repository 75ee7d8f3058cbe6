#pragma once

#include "simulation_speed.h"
#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace fpga_verbs::bench {

// The host of hca_front or hca_board for speed measurements. It enables the device, gives each function a
// ring of kick records, and writes commands to one VCB after the other, a beat per clock. It accepts each
// access of the device at once, and returns the number of records written as the head of a ring.
template <class Rtl> class BusyHost {
public:
  explicit BusyHost(Rtl& rtl) : rtl_(rtl) {}

  // The reset, and the clocks in which the device clears its memories.
  template <class Step> void begin(Step step) {
    rtl_.collect_bready = rtl_.register_bready = 1;
    rtl_.memory_awready = rtl_.memory_wready = rtl_.memory_arready = 1;
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < QUEUE_PAIRS + 4; ++clock)
      step();
    spec::control::Control enable;
    enable.set_enable(1);
    write_register(0x10000 + uint32_t{spec::control::control}, enable.bits, step);
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function) {
      const uint32_t page = 0x20000 + function * uint32_t{spec::underlying_function::bytes};
      write_register(page + spec::underlying_function::kick_record_address + 4, function + 1, step);
      spec::underlying_function::KickRecordControl ring;
      ring.set_enable(1);
      ring.set_entries_log2(10);
      write_register(page + spec::underlying_function::kick_record_control, ring.bits, step);
    }
    begin_command();
  }

  // Before the rising edge.
  void drive() {
    rtl_.collect_awvalid = has_command_ && awaits_address_;
    rtl_.collect_wvalid = has_command_;
    rtl_.memory_bvalid = responses_ != 0;
    rtl_.memory_rvalid = reads_ != 0;
    if (reads_ != 0) {
      spec::RingHead head;
      head.set_head(written_[reader_]);
      for (uint32_t at = 0; at < BEAT_BYTES; at += 8)
        std::memcpy(reinterpret_cast<uint8_t*>(&rtl_.memory_rdata) + at, &head, 8);
      rtl_.memory_rlast = 1;
    }
  }

  // After evaluation, before the edge.
  void take() {
    is_addressed_ = rtl_.collect_awvalid && rtl_.collect_awready;
    is_taken_ = rtl_.collect_wvalid && rtl_.collect_wready;
    if (rtl_.memory_awvalid)
      ++written_[rtl_.memory_awuser];
    responses_ -= rtl_.memory_bvalid && rtl_.memory_bready;
    responses_ += rtl_.memory_wvalid && rtl_.memory_wlast;
    reads_ -= rtl_.memory_rvalid && rtl_.memory_rready;
    if (rtl_.memory_arvalid) {
      ++reads_;
      reader_ = rtl_.memory_aruser;
    }
  }

  // After the edge. Returns the number of accepted beats.
  uint32_t settle() {
    if (is_addressed_)
      awaits_address_ = false;
    if (is_taken_) {
      if (++beat_ == beats)
        begin_command();
      else
        put_beat();
    }
    return is_taken_;
  }

private:
  static constexpr uint32_t payload = 64;
  static constexpr uint32_t beats = (spec::CommandHeader::bytes + payload) / BEAT_BYTES;

  template <class Step> void write_register(uint32_t address, uint32_t data, Step step) {
    rtl_.register_awaddr = address;
    rtl_.register_wdata = data;
    rtl_.register_wstrb = 15;
    rtl_.register_awvalid = rtl_.register_wvalid = 1;
    step();
    rtl_.register_awvalid = rtl_.register_wvalid = 0;
    for (uint32_t clock = 0; clock < 50; ++clock)
      step();
  }

  void begin_command() {
    const uint32_t number = commands_++;
    rtl_.collect_awaddr = number % VIRTUAL_COLLECT_BUFFERS * uint32_t{spec::virtual_collect_buffer_stride};
    rtl_.collect_awlen = beats - 1;
    rtl_.collect_awsize = static_cast<uint8_t>(std::countr_zero(unsigned{BEAT_BYTES}));
    spec::CommandHeader header;
    header.set_queue_pair_number(random_.below(QUEUE_PAIRS));
    header.set_send_queue_sequence_number(static_cast<uint16_t>(number));
    header.set_length(payload);
    header.set_version(spec::command_version);
    header.set_opcode(spec::Opcode::send);
    std::memcpy(bytes_.data(), &header, sizeof(header));
    for (size_t at = spec::CommandHeader::bytes; at < bytes_.size(); at += 8) {
      const uint64_t bits = random_.bits();
      std::memcpy(bytes_.data() + at, &bits, 8);
    }
    has_command_ = awaits_address_ = true;
    beat_ = 0;
    put_beat();
  }

  void put_beat() {
    std::memcpy(&rtl_.collect_wdata, bytes_.data() + beat_ * BEAT_BYTES, BEAT_BYTES);
    rtl_.collect_wstrb =
        static_cast<std::remove_reference_t<decltype(rtl_.collect_wstrb)>>(~uint64_t{0} >> (64 - BEAT_BYTES));
    rtl_.collect_wlast = beat_ == beats - 1;
  }

  Rtl& rtl_;
  Random random_{1};
  std::array<uint8_t, spec::CommandHeader::bytes + payload> bytes_{};
  std::array<uint32_t, UNDERLYING_FUNCTIONS> written_{};
  bool has_command_ = false;
  bool awaits_address_ = false;
  bool is_addressed_ = false;
  bool is_taken_ = false;
  uint32_t beat_ = 0;
  uint32_t commands_ = 0;
  uint32_t responses_ = 0;
  uint32_t reads_ = 0;
  uint32_t reader_ = 0;
};

} // namespace fpga_verbs::bench
