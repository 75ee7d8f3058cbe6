// One command through hca_front, for a drawing: the bench enables the device, then writes a header with 48 B
// of payload to VCB 0 in one burst. The file waveform.vcd gets all signals from the clock before the burst
// until the command has left the stream.
#include "Vhca_front.h"
#include "spec/commands.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <verilated.h>
#include <verilated_vcd_c.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace fpga_verbs::bench {
namespace {

constexpr uint32_t control_region = 0x10000;
constexpr uint32_t payload = 48;
constexpr uint32_t beats = (spec::CommandHeader::bytes + payload + BEAT_BYTES - 1) / BEAT_BYTES;
constexpr unsigned clock_limit = 1000; // Clocks.

class Drawing {
public:
  int run() {
    rtl_.notice_credit = rtl_.pinned = rtl_.queue_pair_found = 1;
    rtl_.collect_bready = rtl_.register_bready = rtl_.command_tready = 1;
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    for (unsigned clock = 0; clock < QUEUE_PAIRS + 4; ++clock)
      step();
    enable();
    Verilated::traceEverOn(true);
    rtl_.trace(&file_, 1);
    file_.open("waveform.vcd");
    is_drawn_ = true;
    step();
    write_command();
    bool has_ended = false;
    for (unsigned clock = 0; clock < clock_limit && !has_ended; ++clock) {
      has_ended = rtl_.command_tvalid && rtl_.command_tlast;
      step();
    }
    step();
    file_.close();
    return has_ended ? 0 : 1;
  }

private:
  void enable() {
    spec::control::Control control;
    control.set_enable(1);
    rtl_.register_awaddr = control_region + spec::control::control;
    rtl_.register_wdata = control.bits;
    rtl_.register_wstrb = 15;
    rtl_.register_awvalid = rtl_.register_wvalid = 1;
    step();
    rtl_.register_awvalid = rtl_.register_wvalid = 0;
    while (rtl_.register_bvalid == 0)
      step();
    step();
  }

  void write_command() {
    std::array<uint8_t, beats * BEAT_BYTES> bytes{};
    spec::CommandHeader header;
    header.set_length(payload);
    header.set_version(spec::command_version);
    std::memcpy(bytes.data(), &header, sizeof(header));
    rtl_.collect_awlen = beats - 1;
    rtl_.collect_awsize = std::countr_zero(unsigned{BEAT_BYTES});
    rtl_.collect_awvalid = 1;
    for (uint32_t beat = 0; beat < beats;) {
      std::memcpy(&rtl_.collect_wdata, bytes.data() + beat * BEAT_BYTES, BEAT_BYTES);
      rtl_.collect_wstrb = (uint64_t{1} << BEAT_BYTES) - 1;
      rtl_.collect_wlast = beat == beats - 1;
      rtl_.collect_wvalid = 1;
      rtl_.clock = 0;
      rtl_.eval();
      const bool is_addressed = rtl_.collect_awvalid && rtl_.collect_awready;
      beat += rtl_.collect_wready;
      step();
      if (is_addressed)
        rtl_.collect_awvalid = 0;
    }
    rtl_.collect_wvalid = rtl_.collect_wlast = 0;
  }

  // The drawing shows the values before the rising edge of each clock.
  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    if (is_drawn_)
      file_.dump(time_++);
    rtl_.clock = 1;
    rtl_.eval();
  }

  Vhca_front rtl_;
  VerilatedVcdC file_;
  bool is_drawn_ = false;
  uint64_t time_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main() { return fpga_verbs::bench::Drawing().run(); }
