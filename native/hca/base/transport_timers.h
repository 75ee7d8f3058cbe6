#pragma once

#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

// The delay that an RNR NAK requests, in units of 10 us, by timer code (InfiniBand volume 1, table 45).
inline constexpr std::array<uint32_t, 32> receiver_not_ready_waits{
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

// In clock ticks.
constexpr uint64_t receiver_not_ready_ticks(uint8_t timer_code, uint64_t clock_frequency) {
  return receiver_not_ready_waits[timer_code] * clock_frequency / 100'000;
}

// Local ACK timeout, 1 to 31, in clock ticks: twice 4.096 us times 2^timeout, so that a loss is detected
// after one to four times the timeout (InfiniBand volume 1, 9.7.6.1.3).
constexpr uint64_t acknowledge_timeout_ticks(unsigned timeout, uint64_t clock_frequency) {
  constexpr uint64_t second = 1'000'000'000;
  const uint64_t nanoseconds = uint64_t{4096} << (timeout + 1);
  return nanoseconds / second * clock_frequency + nanoseconds % second * clock_frequency / second;
}
static_assert(acknowledge_timeout_ticks(31, 10'000'000'000) == (uint64_t{40960} << 32));
static_assert(acknowledge_timeout_ticks(1, 1'000'000) == 16);

} // namespace fpga_verbs::hca
