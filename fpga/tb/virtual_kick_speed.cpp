// virtual_kick with a kick of one of many queue pairs in each clock; each command is finished some clocks
// after its start.
#include "Vvirtual_kick.h"
#include "simulation_speed.h"
#include "virtual_kick_surroundings.h"

#include <verilated.h>

#include <deque>

namespace fpga_verbs::bench {
namespace {

class Busy {
public:
  Busy() {
    start_anew(rtl_);
    rtl_.kick_started_credit = rtl_.pinned = 1;
    next_kick();
  }

  uint32_t step() {
    rtl_.kick_collected = 1;
    rtl_.finish = executing_.size() > 8 ? 1 : 0;
    if (rtl_.finish != 0)
      put(rtl_.finish_unit, executing_.front(), 0);
    rtl_.clock = 0;
    rtl_.eval();
    const bool is_taken = rtl_.kick_collected_ready;
    if (rtl_.finish != 0 && (rtl_.finish_ready & 1) != 0)
      executing_.pop_front();
    const bool starts = rtl_.kick_started;
    if (starts)
      executing_.push_back(finish_of(get<spec::KickUnit>(rtl_.kick_started_unit), true, true));
    rtl_.clock = 1;
    rtl_.eval();
    if (is_taken)
      next_kick();
    return starts;
  }

private:
  void next_kick() {
    spec::KickUnit kick;
    kick.set_queue_pair_number(random_.below(queue_pairs));
    kick.set_underlying_function(random_.below(functions));
    kick.set_physical_collect_buffer(kicks_++ % entries);
    put(rtl_.kick_collected_unit, kick, 0);
  }

  Vvirtual_kick rtl_;
  Random random_{1};
  std::deque<spec::FinishUnit> executing_;
  uint32_t kicks_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::measure<fpga_verbs::bench::Busy>(count, arguments);
}
