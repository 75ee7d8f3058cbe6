#pragma once

#include "hca/collect/collect_buffer_port.h"
#include "hca/collect/half_written_list.h"
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

// collect_buffer in SystemVerilog: the RTL decides what a write binds, completes, rings or is refused for,
// and owns VCBs, PCBs, locks and the commands' data. The registers of VCBs are read from it. This
// adapter moves writes and data units between its ports and the links, tells it how VCBs and PCBs are
// divided, and puts what the other blocks use of a command into PhysicalCollectBuffers.
class CollectBufferRtl final : public hca::CollectBufferPort {
public:
  // Parameters pass check_sizes().
  explicit CollectBufferRtl(const Ports& ports);
  ~CollectBufferRtl() override;
  CollectBufferRtl(const CollectBufferRtl&) = delete;
  CollectBufferRtl& operator=(const CollectBufferRtl&) = delete;

  bool can_accept_write() const override { return ports_.can_accept_write(); }
  void write(const hca::BarWrite& write) override;
  bool write_burst(const hca::BarWrite&) override { return false; } // the RTL takes one line a clock
  void write_management_page(unsigned underlying_function, const hca::BarWrite& write) override;
  // The scan for half-written commands goes round once when one is due.
  bool step() override;
  uint64_t next_deadline() const override;
  void set_half_written_limit(uint64_t ticks) override { half_written_limit_ = ticks; }
  uint64_t half_written_limit() const override { return half_written_limit_; }

  void release(uint16_t buffer) override;
  std::optional<uint16_t> take_dedicated() override;
  std::optional<uint16_t> take_management() override;
  bool has_dedicated_to_spare() const override;
  void on_dedicated_freed(hca::Waker dedicated_freed) override { dedicated_freed_ = dedicated_freed; }
  void fetched(uint16_t buffer) override;
  uint32_t take_kick_number() override;
  std::optional<uint16_t> management_lock(unsigned underlying_function) const override;
  std::optional<uint16_t> lock_management(unsigned underlying_function) override;
  void unlock_management(unsigned underlying_function) override;

  Inspection inspect(unsigned virtual_collect_buffer) const override;
  void cancel(unsigned virtual_collect_buffer) override;
  void close(unsigned virtual_collect_buffer) override;
  void open(unsigned virtual_collect_buffer) override;

  bool set_bar(unsigned underlying_function, const hca::VirtualCollectBufferBar& bar) override;
  void set_bars(const std::array<hca::VirtualCollectBufferBar, spec::underlying_functions>& bars) override;
  const hca::VirtualCollectBufferBar& bar(unsigned underlying_function) const override {
    return functions_.bar(underlying_function);
  }
  bool set_allotment(unsigned underlying_function, const hca::CollectAllotment& allotment) override {
    return groups_.set_allotment(underlying_function, allotment);
  }
  void keep_guarantees() override;
  const hca::CollectGroupTable& groups() const override { return groups_; }

  const char* verify() const override;

private:
  // The outputs of the RTL for a write or a control command.
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
  void look_at(unsigned page) const;
  void await_returns();
  void follow(Outcome& outcome);
  void reset_rtl();
  Outcome send(const hca::BarWrite& write, unsigned page, uint32_t offset);
  Outcome control(spec::CollectBufferControl command, unsigned page = 0);
  std::optional<uint16_t> take(spec::CollectBufferControl command);

  void change(unsigned virtual_collect_buffer, spec::CollectBufferControl command);
  void follow_page(uint16_t buffer, const Inspection& before, const Outcome& outcome);
  void bind_to(uint16_t buffer, uint16_t physical_collect_buffer);
  void kick(uint16_t buffer, const Inspection& before, const Outcome& outcome);
  void take(uint16_t buffer, spec::PhysicalCollectBufferState state);
  void put_back(uint16_t buffer);
  void await_rest(uint16_t buffer);
  void load(uint16_t buffer);
  void tell_division();
  void tell_allotment(unsigned underlying_function, const hca::CollectAllotment& allotment);

  static constexpr unsigned functions = spec::underlying_functions;

  const Ports ports_;
  const std::unique_ptr<VerilatedContext> context_;
  const std::unique_ptr<Vcollect_buffer> rtl_;
  uint64_t now_ = 0;        // clocks
  uint64_t done_clock_ = 0; // of the last write that was handed over
  bool returned_ = false;   // a PCB has just come back
  std::array<uint64_t, vcbs_of_rtl>
      first_write_clock_{};     // by VCB: the clock in which its first write was taken
  RtlCounters counters_of_rtl_; // not yet in the sum

  // How VCBs and PCBs are divided, and the PCBs that each function has.
  hca::UnderlyingFunctionTable functions_;
  hca::CollectGroupTable groups_;
  uint64_t half_written_limit_ = 0; // clock ticks; 0: never
  // When each incomplete command was begun, by VCB, in clock ticks, and the oldest of them.
  std::array<uint64_t, vcbs_of_rtl> first_write_{};
  hca::HalfWrittenList half_written_{vcbs_of_rtl};
  hca::Waker dedicated_freed_;

  std::array<hca::VirtualCollectBufferBar, functions> told_bars_{};
  std::array<hca::CollectAllotment, functions> told_allotments_{};
};

} // namespace fpga_verbs::rtl
