#pragma once

#include "hca/collect/collect_buffer.h"
#include "rtl/rtl_counters.h"
#include "rtl/rtl_sizes.h"
#include "spec/enums.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

class VerilatedContext;
class Vcollect_buffer;

namespace fpga_verbs::rtl {

// collect_buffer in SystemVerilog behind the ports of the device model's: the RTL decides what a write binds,
// completes, rings or is refused for, and owns VCBs, PCBs, locks, allotments and the commands' data. What the
// model keeps follows what comes out of the RTL, for the registers and for the blocks that read commands.
class CollectBufferRtl final : public hca::CollectBuffer {
public:
  // Parameters pass check_sizes().
  CollectBufferRtl(const hca::HcaParameters& parameters, hca::Counters& counters, const hca::Clock& clock,
                   hca::QueuePairPort& queue_pairs, hca::EventPort& events, hca::KickRecords& kick_records,
                   hca::DataLink<spec::KickUnit, 128>& kicks_collected,
                   hca::DataLink<spec::PostNotice, 16>& post_notices,
                   hca::DataLink<spec::ManagementUnit, 16>& management_units);
  ~CollectBufferRtl() override;
  CollectBufferRtl(const CollectBufferRtl&) = delete;
  CollectBufferRtl& operator=(const CollectBufferRtl&) = delete;

  void write(const hca::BarWrite& write) override;
  bool write_burst(const hca::BarWrite&) override { return false; } // the RTL takes one line a clock
  void write_management_page(unsigned underlying_function, const hca::BarWrite& write) override;
  // The scan for half-written commands goes round once when one is due.
  bool step() override;
  void release(uint16_t buffer) override;
  std::optional<uint16_t> take_dedicated() override;
  std::optional<uint16_t> take_management() override;
  void fetched(uint16_t buffer) override;
  uint32_t take_kick_number() override;
  std::optional<uint16_t> lock_management(unsigned underlying_function) override;
  void unlock_management(unsigned underlying_function) override;
  void cancel(unsigned virtual_collect_buffer) override;
  void close(unsigned virtual_collect_buffer) override;
  void open(unsigned virtual_collect_buffer) override;
  void keep_guarantees() override;
  void reset() override;

private:
  // What came out of the RTL for a write or a control command.
  struct Outcome {
    bool done = false;
    bool refused = false;
    bool granted = false; // a control command: with `buffer`
    uint16_t buffer = hca::no_buffer;
    std::optional<spec::KickUnit> kick; // or the kick of send queue mode
    spec::Opcode opcode{};
    uint64_t first_write = 0; // of the kick, in clock ticks
    std::optional<spec::ManagementUnit> management;
  };

  void tick();
  void follow(Outcome& outcome);
  void reset_rtl();
  Outcome send(const hca::BarWrite& write, unsigned page, uint32_t offset);
  Outcome control(spec::CollectBufferControl command, unsigned page = 0);
  std::optional<uint16_t> take(spec::CollectBufferControl command);

  void mirror(uint16_t buffer, const Outcome& outcome);
  void bind_to(uint16_t buffer, uint16_t physical_collect_buffer);
  void kick(uint16_t buffer, const Outcome& outcome);
  void load(uint16_t buffer);
  void tell_division();
  void tell_allotment(unsigned underlying_function, const hca::CollectAllotment& allotment);

  static constexpr unsigned functions = spec::underlying_functions;

  const std::unique_ptr<VerilatedContext> context_;
  const std::unique_ptr<Vcollect_buffer> rtl_;
  uint64_t now_ = 0;      // clocks
  uint64_t done_clock_ = 0; // of the last write that was handed over
  bool returned_ = false; // a PCB has just come back
  std::array<uint64_t, vcbs_of_rtl>
      first_write_clock_{};     // by VCB: the clock in which its first write was taken
  RtlCounters counters_of_rtl_; // not yet in the sum

  std::array<hca::VirtualCollectBufferBar, functions> told_bars_{};
  std::array<hca::CollectAllotment, functions> told_allotments_{};
};

} // namespace fpga_verbs::rtl
