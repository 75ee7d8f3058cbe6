// hca_front as a host sees it: the identity page, registers, commands that are written by AXI in pieces and
// in any order and leave the stream byte by byte as written; commands whose queue pairs are gone; kick
// records and a queuing structure in host memory; resets; finally the mapping table of lanes in host memory.
// Arguments: seed, commands.
//
// The shape (BEAT_BYTES and the other parameters) is passed to Verilator and, by the same names, to this
// file.
#include "bench.h"
#include "hca_front_bench.h"
#include "hca_front_control.h"
#include "hca_front_host_memory.h"
#include "hca_front_lane_map.h"
#include "hca_front_queue_pairs.h"
#include "hca_front_resets.h"
#include "spec/registers.h"

#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace fpga_verbs::bench {
namespace {

class Bench : public HcaFrontBench {
public:
  using HcaFrontBench::HcaFrontBench;

  static constexpr uint32_t slow = 40; // Clocks.

  int run(uint32_t commands) {
    ControlCases control_registers(*this);
    HostMemoryCases host_memory(*this);
    ResetCases resets(*this);
    find_regions();
    control_registers.write_before_enable();
    control_registers.divide();
    control_registers.refuse_and_cancel();
    control_registers.close_and_open();
    host_memory.queue();
    control_registers.inspect();
    QueuePairCases(*this).release_stale();
    begin_rings();
    slave().set_latency(slow); // Several writes of the device are under way.
    for (uint32_t number = 0; number < commands; ++number) {
      if (number == commands / 2) {
        slave().set_latency(0);
        resets.reset_device(number);
      }
      send(random().below(VIRTUAL_COLLECT_BUFFERS), number);
      while (stream().awaited() > 1)
        wait();
      rings().read();
    }
    wait_for_all();
    steps(clock_limit);
    rings().read();
    expect(place(), "commands without a record of their end", rings().untold(), 0);
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      expect(place(), "records dropped", read_64(page(function) + function_page::kick_records_dropped), 0);
    host_memory.lose_ring(commands);
    control_registers.hold_credits(commands + 1);
    resets.reset_function(commands + 2);
    uint64_t kicks = 0;
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      kicks += read_64(page(function) + function_page::kicks);
    expect(place(), "kicks counted since the reset", kicks, commands - commands / 2 + 4);
    expect(place(), "clock", read_64(page(0) + function_page::clock) < place().clock, 1);
    resets.disable_device(commands + 4);
    resets.reset_function_while_writing(commands + 4);
    resets.reset_function_while_managing();
    LaneMapCases(*this, commands + 6).run();
    std::printf(
        "%u commands, %llu beats of the stream, most clocks from the last write to the first beat %llu\n",
        commands, static_cast<unsigned long long>(stream().beats()),
        static_cast<unsigned long long>(stream().most_latency()));
    return 0;
  }
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  const uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  const uint32_t commands = count > 2 ? static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)) : 200;
  fpga_verbs::bench::Bench bench(seed);
  const fpga_verbs::bench::Coverage coverage;
  return bench.run(commands);
}
