#pragma once

#include "hca/kick/virtual_kick_port.h"
#include "rtl/rtl_counters.h"
#include "rtl/rtl_sizes.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

class VerilatedContext;
class Vvirtual_kick;

namespace fpga_verbs::rtl {

// virtual_kick in SystemVerilog: the RTL chooses lanes, keeps the lists and credits, decides what starts and
// when, and drops commands. The registers of lists and credits, and the room that send_queue_scheduler asks
// for, are read from it. This adapter moves data units between its ports and the links, tells it
// how lanes, lists and credits are divided, and counts what has gone in and not come out.
class VirtualKickRtl final : public hca::VirtualKickPort {
public:
  // Parameters pass check_sizes().
  explicit VirtualKickRtl(const Ports& ports);
  ~VirtualKickRtl() override;
  VirtualKickRtl(const VirtualKickRtl&) = delete;
  VirtualKickRtl& operator=(const VirtualKickRtl&) = delete;

  // One clock, until nothing happens any more. Where room is short, the clocks too that it takes what leaves
  // to leave: kicks of the next step find its room, as those of the model do.
  bool step() override;

  bool set_map(hca::LaneMap map) override;
  const hca::LaneMap& map() const override { return map_; }
  void invalidate(uint32_t entries) override;
  void set_entry_credits(unsigned underlying_function, uint32_t credits) override;
  uint32_t entry_credits(unsigned underlying_function) const override {
    return entry_credits_[underlying_function];
  }
  bool has_entry_credit(unsigned underlying_function) const override {
    return listed_of_[underlying_function] < entry_credits_[underlying_function];
  }
  void set_list_size(unsigned lane, uint32_t commands) override;
  uint32_t list_size(unsigned lane) const override { return list_sizes_[lane]; }
  uint32_t listed(unsigned lane) const override;
  void divide_credits(hca::CreditKind kind, unsigned lane, const hca::LaneCreditDivision& division) override;
  void set_shared_credits(hca::CreditKind kind, uint32_t credits) override;
  hca::LaneCreditDivision credit_division(hca::CreditKind kind, unsigned lane) const override {
    return divisions_[static_cast<size_t>(kind)].lanes[lane];
  }
  uint32_t shared_credits(hca::CreditKind kind) const override {
    return divisions_[static_cast<size_t>(kind)].shared;
  }
  uint32_t own_credits_free(hca::CreditKind kind, unsigned lane) const override;
  uint32_t shared_credits_held(hca::CreditKind kind, unsigned lane) const override;
  uint32_t shared_credits_free(hca::CreditKind kind) const override;
  void notice_division() override;

  Outlook outlook(unsigned lane) const override;
  unsigned choose_lane(unsigned underlying_function, spec::QualityOfServiceLevel level) override;
  QueuePairLane queue_pair_lane(uint32_t queue_pair_number) const override;
  void drop(uint32_t queue_pair_number) override;
  uint32_t commands(unsigned underlying_function) const override;
  void on_work(hca::Waker self) override { self_ = self; }

  const char* verify() const override;

private:
  // Credits of one kind.
  struct CreditDivision {
    std::array<hca::LaneCreditDivision, lanes_of_rtl> lanes{};
    uint32_t shared = 0;
  };

  void tick();
  bool clock();
  void drive();
  bool has_room_everywhere() const;
  bool room_is_due() const;
  bool follow_started();
  bool follow_kicks();
  bool follow_finishes();
  void count_joined(const spec::KickUnit& kick, unsigned lane);
  void count_left(unsigned lane);
  void end_command(uint32_t queue_pair_number);
  void answer_fetch();
  void read_lanes(unsigned underlying_function, spec::QualityOfServiceLevel level);

  QueuePairLane& lane_of(uint32_t queue_pair_number);
  uint32_t credits_free(hca::CreditKind kind, unsigned lane) const;
  template <class Input> void strobe(Input& input);
  void count(uint64_t clocks);

  static constexpr unsigned finish_ports = 3;

  const Ports ports_;
  const std::unique_ptr<VerilatedContext> context_;
  const std::unique_ptr<Vvirtual_kick> rtl_;
  std::deque<spec::KickUnit> taken_;                // kicks on their way through the RTL's stages
  std::array<uint64_t, entries_of_rtl> taken_at_{}; // by PCB: the clock in which its kick was taken
  uint64_t now_ = 0;                                // clocks
  unsigned quiet_ = 0;                              // clocks in which nothing has happened
  unsigned leaving_ = 0;                            // commands that are started and still on their list
  unsigned dropped_ = 0;                            // commands that are dropped and still on their list
  unsigned moving_ = 0;                             // clocks in which a command may start yet
  RtlCounters counters_of_rtl_;                     // not yet in the sum
  hca::Waker self_;

  // How lanes, lists and credits are divided, as the RTL was told.
  hca::LaneMap map_;
  std::array<uint32_t, spec::underlying_functions> entry_credits_{};
  std::array<uint32_t, lanes_of_rtl> list_sizes_{};
  std::array<CreditDivision, 2> divisions_; // by CreditKind

  // The commands that have gone in and not come out: the functions of the commands on each list, first to
  // last, and how many each function has there; the lane of a queue pair and its commands, by queue pair
  // index.
  std::array<std::deque<uint8_t>, lanes_of_rtl> on_lists_;
  std::array<uint32_t, spec::underlying_functions> listed_of_{};
  std::vector<QueuePairLane> queue_pair_lanes_;
  std::array<uint32_t, lanes_of_rtl> loads_{}; // by lane: commands kicked and not finished
};

} // namespace fpga_verbs::rtl
