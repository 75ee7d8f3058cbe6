#pragma once

#include "hca/kick/virtual_kick.h"
#include "rtl/rtl_counters.h"
#include "rtl/rtl_sizes.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

class VerilatedContext;
class Vvirtual_kick;

namespace fpga_verbs::rtl {

// virtual_kick in SystemVerilog behind the links of the device model's: the RTL chooses lanes, keeps the
// lists and credits, decides what starts and when, drops commands, and tells send_queue_scheduler what there
// is room for. What the model keeps follows what comes out of the RTL, for the registers.
class VirtualKickRtl final : public hca::VirtualKick {
public:
  // Parameters pass check_sizes().
  explicit VirtualKickRtl(const Ports& ports);
  ~VirtualKickRtl() override;
  VirtualKickRtl(const VirtualKickRtl&) = delete;
  VirtualKickRtl& operator=(const VirtualKickRtl&) = delete;

  // One clock, until nothing happens any more. Where room is short, the clocks too that it takes what leaves
  // to leave: kicks of the next step find its room, as those of the model do.
  bool step() override;
  Outlook outlook(unsigned lane) const override;
  unsigned choose_lane(unsigned underlying_function, spec::QualityOfServiceLevel level) override;
  void drop(uint32_t queue_pair_number) override;

private:
  static constexpr uint32_t untold = ~uint32_t{0};
  // Of each lane: what the RTL was told.
  struct LaneDivision {
    uint32_t list_size = untold;
    uint32_t execution_own = untold;
    uint32_t execution_cap = untold;
    uint32_t completion_own = untold;
    uint32_t completion_cap = untold;
  };
  void tick();
  bool clock();
  void drive();
  bool room_is_due() const;
  bool follow_started();
  bool follow_kicks();
  bool follow_finishes();
  void answer_fetch();

  void tell_division();
  void tell_lane(unsigned lane);
  void tell_map();
  template <class Input> void strobe(Input& input);
  void count(uint64_t clocks);

  static constexpr unsigned finish_ports = 3;

  const std::unique_ptr<VerilatedContext> context_;
  const std::unique_ptr<Vvirtual_kick> rtl_;
  std::deque<spec::KickUnit> taken_;                // kicks on their way through the RTL's two stages
  std::array<uint64_t, entries_of_rtl> taken_at_{}; // by PCB: the clock in which its kick was taken
  uint64_t now_ = 0;                                // clocks
  unsigned quiet_ = 0;                              // clocks in which nothing has happened
  unsigned leaving_ = 0;                            // commands that are started and still on their list
  bool moved_ = false;          // in the last clock, so that a command may start in the next
  RtlCounters counters_of_rtl_; // not yet in the sum

  std::array<LaneDivision, lanes_of_rtl> told_lanes_{};
  std::array<uint32_t, spec::underlying_functions> told_entry_credits_{};
  hca::LaneMap told_map_;
  uint32_t told_shared_execution_ = untold;
  uint32_t told_shared_completion_ = untold;
  uint32_t told_invalid_ = 0;
};

} // namespace fpga_verbs::rtl
