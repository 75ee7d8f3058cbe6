#pragma once

#include "bench.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace fpga_verbs::bench {

constexpr unsigned clock_limit = 2000; // clocks
constexpr uint32_t okay = 0;           // AXI response
constexpr uint32_t slave_error = 2;

// The bytes of an AXI4-Stream beat that its keep bits select.
template <class Data> std::vector<uint8_t> kept_bytes(const Data& data, uint64_t keep) {
  std::vector<uint8_t> bytes;
  for (uint32_t lane = 0; lane < BEAT_BYTES; ++lane)
    if (keep >> lane & 1)
      bytes.push_back(reinterpret_cast<const uint8_t*>(&data)[lane]);
  return bytes;
}

// A host at ports register_* (AXI4-Lite) and collect_* (AXI4). It makes one access at a time and waits for
// each response, and for the acceptance of each burst. It takes responses up to four clocks late. The derived
// bench provides rtl(), place(), begin_clock(), which ends with the evaluation before the rising edge, and
// end_clock().
template <class Bench> class AxiHost {
public:
  // Resets the device and waits until it has initialized its lists.
  void begin() {
    auto& rtl = bench().rtl();
    rtl.reset = 1;
    step();
    step();
    rtl.reset = 0;
    steps(QUEUE_PAIRS + 4);
  }

  uint32_t read(uint32_t address) {
    auto& rtl = bench().rtl();
    rtl.register_araddr = address;
    rtl.register_arvalid = 1;
    until("register_arready", [&] { return rtl.register_arready != 0; });
    rtl.register_arvalid = 0;
    steps(++answers_ % late);
    rtl.register_rready = 1;
    uint32_t data = 0;
    until("register_rvalid", [&] {
      data = rtl.register_rdata;
      return rtl.register_rvalid != 0;
    });
    rtl.register_rready = 0;
    return data;
  }

  uint64_t read_64(uint32_t address) {
    const uint64_t low = read(address);
    return low | uint64_t{read(address + 4)} << 32;
  }

  // Returns the response.
  uint32_t write(uint32_t address, uint32_t data, uint8_t strobes = 15) {
    auto& rtl = bench().rtl();
    rtl.register_awaddr = address;
    rtl.register_wdata = data;
    rtl.register_wstrb = strobes;
    rtl.register_awvalid = rtl.register_wvalid = 1;
    until("register_awready", [&] { return rtl.register_awready && rtl.register_wready; });
    rtl.register_awvalid = rtl.register_wvalid = 0;
    return take_response();
  }

  // Returns the response to the high half, which makes the value take effect.
  uint32_t write_64(uint32_t address, uint64_t data) {
    expect(bench().place(), "low half", write(address, static_cast<uint32_t>(data)), okay);
    return write(address + 4, static_cast<uint32_t>(data >> 32));
  }

  // The response to a register write.
  uint32_t take_response() {
    auto& rtl = bench().rtl();
    steps(++answers_ % late);
    rtl.register_bready = 1;
    uint32_t response = 0;
    until("register_bvalid", [&] {
      response = rtl.register_bresp;
      return rtl.register_bvalid != 0;
    });
    rtl.register_bready = 0;
    return response;
  }

  // Writes a burst with beats of this many bytes. Does not wait for the response.
  void write_burst(uint32_t address, const uint8_t* data, size_t bytes, uint32_t beat) {
    begin_burst(address, (bytes + beat - 1) / beat, beat);
    for (size_t at = 0; at < bytes; at += beat)
      send_beat(address + at, data + at, std::min<size_t>(beat, bytes - at), at + beat >= bytes);
  }
  void begin_burst(uint32_t address, size_t beats, uint32_t beat) {
    auto& rtl = bench().rtl();
    rtl.collect_awaddr = address;
    rtl.collect_awlen = static_cast<uint8_t>(beats - 1);
    rtl.collect_awsize = static_cast<uint8_t>(std::countr_zero(beat));
    rtl.collect_awvalid = 1;
    until("collect_awready", [&] { return rtl.collect_awready != 0; });
    rtl.collect_awvalid = 0;
  }
  void send_beat(size_t address, const uint8_t* data, size_t bytes, bool is_last) {
    auto& rtl = bench().rtl();
    const size_t lane = address % BEAT_BYTES;
    std::memcpy(reinterpret_cast<uint8_t*>(&rtl.collect_wdata) + lane, data, bytes);
    const uint64_t strobes = bytes == 64 ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1;
    rtl.collect_wstrb = static_cast<std::remove_reference_t<decltype(rtl.collect_wstrb)>>(strobes << lane);
    rtl.collect_wlast = is_last;
    rtl.collect_wvalid = 1;
    until("collect_wready", [&] { return rtl.collect_wready != 0; });
    rtl.collect_wvalid = 0;
  }

  // Steps clocks, up to and including the one in which the condition holds.
  template <class Condition> void until(const char* what, Condition condition) {
    for (unsigned clock = 0; clock < clock_limit; ++clock) {
      take_burst_responses();
      bench().begin_clock();
      const bool is_so = condition();
      bench().end_clock();
      if (is_so)
        return;
    }
    differ(bench().place(), what, 0, 1);
  }

  void step() {
    take_burst_responses();
    bench().begin_clock();
    bench().end_clock();
  }
  void steps(unsigned clocks) {
    for (unsigned clock = 0; clock < clocks; ++clock)
      step();
  }

private:
  // Clocks, less than: of answers of registers, longer than a write takes, and of bursts.
  static constexpr uint32_t late = 9;
  static constexpr uint32_t late_of_burst = 5;

  // In most clocks.
  void take_burst_responses() { bench().rtl().collect_bready = ++clocks_ % late_of_burst != 0; }

  uint32_t answers_ = 0;
  uint32_t clocks_ = 0;

  Bench& bench() { return static_cast<Bench&>(*this); }
};

} // namespace fpga_verbs::bench
