// collect_buffer beside the device model: commands from a seed, split, reordered, repeated and corrupted, in
// bursts on the AXI port. The model executes each write and control command when the RTL reports that it is
// done. Every kick, notice, refusal, count, state and stored command is compared, in order. Arguments: seed,
// clocks.
//
// For some clocks after the release of a PCB, the RTL may report that no PCB is free: the model is then told
// the same. The RTL may select any free PCB of a kind.
//
// The shape (BEAT_BYTES and the other parameters) is passed to Verilator and, by the same names, to this
// file.
#include "collect_buffer_follow.h"
#include "collect_buffer_reset.h"
#include "collect_buffer_stream.h"
#include "collect_buffer_table.h"

#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace fpga_verbs::bench {
namespace {

class Bench : FollowedCollectBuffer {
public:
  using FollowedCollectBuffer::FollowedCollectBuffer;

  int run() {
    rtl_.scoreboard_variant = static_cast<uint8_t>(scoreboard_variant);
    rtl_.reset = 1;
    tick();
    tick();
    rtl_.reset = 0;
    rtl_.unit_credit = 1;
    for (uint32_t clocks = 0; !rtl_.control_ready; ++clocks) {
      tick();
      if (clocks > 4 * (vcbs + functions) + 32)
        differ(place_, "clocks of a reset", clocks, 4 * (vcbs + functions) + 32);
    }
    host_.turn_on(kick_records_);
    for (place_.clock = 0; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock >= next_division_ && !host_waits() && without_room_ == 0)
        change_division();
      drive();
      tick();
      follow();
    }
    std::printf("%llu clocks, %llu beats, %llu kicks, %llu in send queue mode; refusals",
                static_cast<unsigned long long>(clocks_), static_cast<unsigned long long>(beats_),
                static_cast<unsigned long long>(kicks_),
                static_cast<unsigned long long>(send_queue_mode_kicks_));
    for (const uint64_t count : refusals_)
      std::printf(" %llu", static_cast<unsigned long long>(count));
    std::printf("\nmanagement kicks %llu, half written %llu, fetched %llu",
                static_cast<unsigned long long>(management_kicks_),
                static_cast<unsigned long long>(half_written_), static_cast<unsigned long long>(fetched_));
    std::printf(", handed over %llu", static_cast<unsigned long long>(handed_over_));
    std::printf(", without a PCB that was just back %llu", static_cast<unsigned long long>(said_early_));
    std::printf(", beats done before earlier ones %llu", static_cast<unsigned long long>(passed_));
    std::printf("\nmost beats on end %llu, most clocks to a kick %u\n",
                static_cast<unsigned long long>(most_on_end_), most_latency_);
#if VM_COVERAGE
    VerilatedCov::write("coverage.dat");
#endif
    return 0;
  }

private:
  // BARs and allotments change while nothing is in flight.

  void settle() {
    rtl_.awvalid = rtl_.wvalid = rtl_.control = rtl_.release_buffer = rtl_.store = 0;
    rtl_.unit_credit = 1;
    for (; !writes_.empty() || !controls_.empty(); ++place_.clock) {
      tick();
      follow();
    }
  }

  void change_division() {
    next_division_ = place_.clock + 512;
    settle();
    const uint32_t function = random_.below(functions);
    release_pace_ = 1 + random_.below(40);
    opening_ = 0;
    if (random_.once(2)) // divide all PCBs anew
      for (uint32_t each = 0; each < functions; ++each)
        set_allotment(each, {});
    for (uint32_t each = 0; each < functions; ++each)
      set_allotment((function + each) % functions, {random_.below(4), random_.below(4), random_.below(4)});
    rtl_.set_underlying_function = function;
    hca::VirtualCollectBufferBar bar = model_.bar(function);
    bar.low = random_.below(bar.count + 1);
    bar.high = bar.low + random_.below(bar.count - bar.low + 1);
    rtl_.set_bar = model_.set_bar(function, bar);
    rtl_.set_bar_base = bar.base;
    rtl_.set_bar_count = bar.count;
    rtl_.set_bar_low = bar.low;
    rtl_.set_bar_high = bar.high;
    tick();
    rtl_.set_bar = 0;
    settle_division();
    pass_time();
  }

  void set_allotment(uint32_t function, const hca::CollectAllotment& allotment) {
    rtl_.set_underlying_function = function;
    rtl_.set_allotment_low = allotment.low;
    rtl_.set_allotment_high = allotment.high;
    rtl_.set_allotment_shared = allotment.shared;
    rest(); // The sum,
    rest(); // and its comparison.
    expect_value("allotment allowed", rtl_.allotment_allowed, model_.set_allotment(function, allotment));
    rtl_.set_allotment = 1;
    tick();
    rtl_.set_allotment = 0;
  }

  // Half-written commands that hold PCBs of other functions now enter send queue mode. New beats wait
  // meanwhile.
  void settle_division() {
    rtl_.control = 1;
    rtl_.control_command = static_cast<uint8_t>(Control::settle_division);
    rtl_.control_page = 0;
    const uint64_t entered = counts_.send_queue_mode_entered;
    uint32_t clocks = 0;
    for (; !rtl_.control_done; ++clocks, ++place_.clock) {
      tick();
      rtl_.control = 0;
      keep_units();
      if (clocks > (vcbs + 40) * (pcbs + 1))
        differ(place_, "clocks of a division", clocks, (vcbs + 40) * (pcbs + 1));
    }
    handed_over_ += counts_.send_queue_mode_entered - entered;
    model_.keep_guarantees();
    compare_units();
    for (uint32_t page = 0; page < vcbs; ++page)
      compare_state(page);
    compare_free();
  }

  // Time passes only between commands. The RTL reports one VCB per clock, the model the oldest first.
  void pass_time() {
    // Time begins at 0. At the second time, a command is as old as the limit and as the device; later some
    // are, and some are a tick younger.
    const uint32_t limit = passes_ == 1 ? 60 : random_.below(3) * 60;
    clock_.ticks += passes_ == 0                      ? 0
                    : passes_ == 1 || random_.once(3) ? 60 - (passes_ > 1 && random_.once(3))
                                                      : random_.below(100);
    ++passes_;
    rtl_.now = clock_.ticks;
    rtl_.half_written_limit = limit;
    model_.set_half_written_limit(rtl_.half_written_limit);
    for (uint32_t clocks = vcbs + 16; clocks > 0; --clocks, ++place_.clock) {
      tick();
      follow();
    }
    while (model_.step())
      ;
    const auto by_object = [](const spec::EventUnit& one, const spec::EventUnit& other) {
      return one.object() < other.object();
    };
    std::sort(rtl_half_written_.begin(), rtl_half_written_.end(), by_object);
    std::sort(events_.events.begin(), events_.events.end(), by_object);
    half_written_ += rtl_half_written_.size();
    expect_value("half-written commands", rtl_half_written_.size(), events_.events.size());
    for (size_t place = 0; place < rtl_half_written_.size(); ++place)
      compare_unit("half-written command", rtl_half_written_[place], events_.events[place]);
    rtl_half_written_.clear();
    events_.events.clear();
  }
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  if (count != 3) {
    std::printf("usage: %s SEED CLOCKS\n", arguments[0]);
    return 2;
  }
  const uint64_t seed = std::strtoull(arguments[1], nullptr, 0);
  if (seed % 2 == 0)
    fpga_verbs::bench::scoreboard_variant = fpga_verbs::spec::ScoreboardVariant::direct;
  Vcollect_buffer rtl;
  fpga_verbs::bench::QueuePairs queue_pairs;
  fpga_verbs::bench::run_table(rtl, queue_pairs);
  for (const bool checked : {false, true})
    for (const bool same : {false, true}) {
      const fpga_verbs::bench::Stream stream = fpga_verbs::bench::run_stream(rtl, queue_pairs, same, checked);
      std::printf(
          "stream to %s%s: %u beats in %u clocks, %u kicks, %u to %u clocks from the completing beat\n",
          same ? "one VCB" : "each VCB", checked ? ", with checksums" : "", stream.beats, stream.clocks,
          stream.kicks, stream.least_latency, stream.most_latency);
    }
  if (fpga_verbs::bench::pcbs >= fpga_verbs::bench::vcbs) { // otherwise PCBs run out
    const fpga_verbs::bench::BesideSum beside = fpga_verbs::bench::run_beside_sum(rtl, queue_pairs);
    std::printf("beside a sum made anew: %u clocks to its kick, %u at most to those of others\n",
                beside.summed, beside.most_of_others);
  }
  std::printf("resets while a division settles: %u\n",
              fpga_verbs::bench::ResetWhileSettling<Vcollect_buffer>(rtl).run());
  fpga_verbs::bench::Bench bench(seed, std::strtoull(arguments[2], nullptr, 0));
  const fpga_verbs::bench::Coverage coverage;
  return bench.run();
}
