// hca_board as a host sees it: commands of every length go in by AXI, one after the other, and each ends, so
// that none of the few PCBs and credits is lost. Arguments: seed, commands.
//
// The shape (BEAT_BYTES and the other parameters) is given to Verilator and, by the same names, to this file.
#include "Vhca_board.h"
#include "bench.h"
#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <verilated.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace fpga_verbs::bench {
namespace {

constexpr unsigned patience = 1000; // Clocks.
constexpr uint32_t control_region = 0x10000;
constexpr uint32_t function_pages = 0x20000;

class Bench {
public:
  explicit Bench(uint64_t seed) : random_(seed), place_{.seed = seed} {
    rtl_.collect_bready = rtl_.register_bready = rtl_.register_rready = 1;
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    for (unsigned clock = 0; clock < QUEUE_PAIRS + 4; ++clock)
      step();
  }

  int run(uint32_t commands) {
    expect(place_, "magic", read(spec::identity::magic), spec::identity::magic_reset);
    spec::control::Control control;
    control.set_enable(1);
    write(control_region + spec::control::control, control.bits);
    for (uint32_t number = 0; number < commands; ++number) {
      send(number);
      for (unsigned clock = 0; clock < patience && ended_ <= number; ++clock)
        step();
      expect(place_, "commands ended", ended_, number + 1);
    }
    uint64_t kicks = 0;
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      kicks += read(function_pages + function * spec::underlying_function::bytes +
                    spec::underlying_function::kicks);
    expect(place_, "kicks counted", kicks, commands);
    std::printf("%u commands\n", commands);
    return 0;
  }

private:
  void send(uint32_t number) {
    const uint32_t length = random_.below(spec::command_payload_bytes + 1);
    std::array<uint8_t, spec::command_bytes> bytes{};
    spec::CommandHeader header;
    header.set_queue_pair_number(random_.below(QUEUE_PAIRS));
    header.set_send_queue_sequence_number(static_cast<uint16_t>(number));
    header.set_length(length);
    header.set_version(spec::command_version);
    std::memcpy(bytes.data(), &header, sizeof(header));
    const uint32_t whole = spec::CommandHeader::bytes + (length + 7) / 8 * 8;
    rtl_.collect_awaddr =
        random_.below(VIRTUAL_COLLECT_BUFFERS) * uint32_t{spec::virtual_collect_buffer_stride};
    rtl_.collect_awlen = static_cast<uint8_t>((whole + BEAT_BYTES - 1) / BEAT_BYTES - 1);
    rtl_.collect_awsize = std::countr_zero(unsigned{BEAT_BYTES});
    rtl_.collect_awvalid = 1;
    until("awready", [&] { return rtl_.collect_awready != 0; });
    rtl_.collect_awvalid = 0;
    for (uint32_t at = 0; at < whole; at += BEAT_BYTES) {
      const uint32_t here = std::min<uint32_t>(BEAT_BYTES, whole - at);
      std::memcpy(&rtl_.collect_wdata, bytes.data() + at, here);
      rtl_.collect_wstrb =
          static_cast<std::remove_reference_t<decltype(rtl_.collect_wstrb)>>((uint64_t{1} << here) - 1);
      rtl_.collect_wlast = at + BEAT_BYTES >= whole;
      rtl_.collect_wvalid = 1;
      until("wready", [&] { return rtl_.collect_wready != 0; });
      rtl_.collect_wvalid = 0;
    }
  }

  uint32_t read(uint32_t address) {
    rtl_.register_araddr = address;
    rtl_.register_arvalid = 1;
    until("arready", [&] { return rtl_.register_arready != 0; });
    rtl_.register_arvalid = 0;
    uint32_t data = 0;
    until("rvalid", [&] {
      data = rtl_.register_rdata;
      return rtl_.register_rvalid != 0;
    });
    return data;
  }

  void write(uint32_t address, uint32_t data) {
    rtl_.register_awaddr = address;
    rtl_.register_wdata = data;
    rtl_.register_wstrb = 15;
    rtl_.register_awvalid = rtl_.register_wvalid = 1;
    until("register_awready", [&] { return rtl_.register_awready && rtl_.register_wready; });
    rtl_.register_awvalid = rtl_.register_wvalid = 0;
    until("bvalid", [&] { return rtl_.register_bvalid != 0; });
  }

  // Clocks until it is so, that one too.
  template <class Condition> void until(const char* what, Condition condition) {
    for (unsigned clock = 0; clock < patience; ++clock) {
      rtl_.clock = 0;
      rtl_.eval();
      const bool is_so = condition();
      step();
      if (is_so)
        return;
    }
    differ(place_, what, 0, 1);
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    ended_ += rtl_.command_ended;
    rtl_.clock = 1;
    rtl_.eval();
    ++place_.clock;
  }

  Vhca_board rtl_;
  Random random_;
  Place place_;
  uint32_t ended_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  const uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  const uint32_t commands = count > 2 ? static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)) : 400;
  return fpga_verbs::bench::Bench(seed).run(commands);
}
