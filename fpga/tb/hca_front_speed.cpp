// hca_front with commands written in every clock in which it accepts a beat. The next block accepts each beat
// of the stream, ends each command at once, and reports a kick record of it.
#include "Vhca_front.h"
#include "front_speed.h"
#include "spec/data_units.h"

#include <verilated.h>

#include <deque>

namespace fpga_verbs::bench {
namespace {

class Busy {
public:
  Busy() {
    rtl_.notice_credit = rtl_.pinned = rtl_.queue_pair_found = rtl_.drained = rtl_.command_tready = 1;
    rtl_.management_tready = 1;
    rtl_.function_drained = static_cast<uint8_t>((1U << UNDERLYING_FUNCTIONS) - 1);
    host_.begin([this] { step(); });
  }

  // Commands received from the stream.
  uint32_t step() {
    rtl_.release_command = !ended_.empty() && !is_released_;
    rtl_.finish = !ended_.empty() && !is_finished_;
    if (!ended_.empty()) {
      const spec::KickUnit& unit = ended_.front();
      rtl_.release_command_physical_collect_buffer = static_cast<uint8_t>(unit.physical_collect_buffer());
      spec::FinishUnit finish;
      finish.set_physical_collect_buffer(unit.physical_collect_buffer());
      finish.set_transmit_virtual_lane(unit.transmit_virtual_lane());
      finish.set_underlying_function(unit.underlying_function());
      finish.set_quality_of_service_level(unit.quality_of_service_level());
      finish.set_execution_credit_shared(unit.execution_credit_shared());
      finish.set_completion_credit_shared(unit.completion_credit_shared());
      finish.set_execution_credit_returned(1);
      finish.set_completion_credit_returned(1);
      finish.set_finished(1);
      finish.set_queue_pair_number(unit.queue_pair_number());
      std::memcpy(&rtl_.finish_unit, &finish, sizeof(finish));
    }
    rtl_.record = !told_.empty();
    if (!told_.empty()) {
      rtl_.record_type = static_cast<uint8_t>(spec::KickRecordType::sent);
      rtl_.record_opcode = static_cast<uint8_t>(spec::Opcode::send);
      std::memcpy(&rtl_.record_unit, &told_.front(), sizeof(spec::KickUnit));
    }
    host_.drive();
    rtl_.clock = 0;
    rtl_.eval();
    host_.take();
    const bool is_told = rtl_.record && rtl_.record_ready;
    const bool ends = rtl_.command_tvalid && rtl_.command_tlast;
    spec::KickUnit unit;
    std::memcpy(&unit, &rtl_.command_tuser, sizeof(unit));
    is_released_ |= rtl_.release_command && rtl_.release_command_ready;
    is_finished_ |= rtl_.finish && rtl_.finish_ready;
    rtl_.clock = 1;
    rtl_.eval();
    host_.settle();
    if (is_told)
      told_.pop_front();
    if (is_released_ && is_finished_) {
      ended_.pop_front();
      is_released_ = is_finished_ = false;
    }
    if (ends) {
      ended_.push_back(unit);
      if (told_.size() < most_told)
        told_.push_back(unit);
    }
    return ends;
  }

private:
  static constexpr size_t most_told = 8;

  Vhca_front rtl_;
  BusyHost<Vhca_front> host_{rtl_};
  std::deque<spec::KickUnit> ended_; // Commands whose PCB and credits must return.
  std::deque<spec::KickUnit> told_;  // Commands whose kick records must be reported.
  bool is_released_ = false;
  bool is_finished_ = false;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::measure<fpga_verbs::bench::Busy>(count, arguments);
}
