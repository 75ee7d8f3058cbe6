// collect_buffer with a beat offered in each clock: commands of a header and a payload, every other one with
// a checksum, to one VCB after the other. Each PCB is released with its kick.
#include "Vcollect_buffer.h"
#include "simulation_speed.h"
#include "spec/commands.h"
#include "spec/data_units.h"
#include "spec/parameters.h"

#include <verilated.h>

#include <array>
#include <bit>
#include <cstring>

namespace fpga_verbs::bench {
namespace {

class Busy {
public:
  Busy() {
    rtl_.reset = 1;
    rtl_.unit_credit = rtl_.bready = rtl_.queue_pair_found = 1;
    end_clock();
    rtl_.reset = 0;
    do
      end_clock();
    while (!rtl_.control_ready);
    begin_command();
  }

  uint32_t step() {
    rtl_.awvalid = awaits_address_;
    rtl_.wvalid = 1;
    rtl_.clock = 0;
    rtl_.eval();
    const bool is_addressed = rtl_.awvalid && rtl_.awready;
    const bool is_taken = rtl_.wvalid && rtl_.wready;
    end_clock();
    rtl_.release_buffer = rtl_.kick;
    if (rtl_.kick) {
      spec::KickUnit kick;
      std::memcpy(&kick, &rtl_.kick_unit, sizeof(kick));
      rtl_.release_physical_collect_buffer = static_cast<uint8_t>(kick.physical_collect_buffer());
    }
    if (is_addressed)
      awaits_address_ = false;
    if (is_taken) {
      if (++beat_ == beats)
        begin_command();
      else
        put_beat();
    }
    return is_taken;
  }

private:
  static constexpr uint32_t payload = 64;
  static constexpr uint32_t beats = (spec::CommandHeader::bytes + payload) / BEAT_BYTES;
  static constexpr uint32_t per_function = VIRTUAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;

  void begin_command() {
    const uint32_t vcb = commands_++ % VIRTUAL_COLLECT_BUFFERS;
    rtl_.awaddr = vcb * uint32_t{spec::virtual_collect_buffer_stride};
    rtl_.awlen = beats - 1;
    rtl_.awsize = static_cast<uint8_t>(std::countr_zero(unsigned{BEAT_BYTES}));
    rtl_.awuser = 0;
    awaits_address_ = true;
    for (size_t at = 0; at < bytes_.size(); at += 8) {
      const uint64_t bits = random_.bits();
      std::memcpy(bytes_.data() + at, &bits, 8);
    }
    spec::CommandHeader header;
    header.set_queue_pair_number(vcb / per_function);
    header.set_length(payload);
    header.set_version(spec::command_version);
    header.set_checksum_enable(0);
    std::memcpy(bytes_.data(), &header, 8);
    beat_ = 0;
    put_beat();
  }

  void put_beat() {
    std::memcpy(&rtl_.wdata, bytes_.data() + beat_ * BEAT_BYTES, BEAT_BYTES);
    rtl_.wstrb = ~uint64_t{0} >> (64 - BEAT_BYTES);
    rtl_.wlast = beat_ == beats - 1;
  }

  void end_clock() {
    rtl_.clock = 0;
    rtl_.eval();
    rtl_.clock = 1;
    rtl_.eval();
  }

  Vcollect_buffer rtl_;
  Random random_{1};
  std::array<uint8_t, spec::CommandHeader::bytes + payload> bytes_{};
  bool awaits_address_ = false;
  uint32_t beat_ = 0;
  uint32_t commands_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::measure<fpga_verbs::bench::Busy>(count, arguments);
}
