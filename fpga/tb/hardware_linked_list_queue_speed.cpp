// The queue with a push, a mark and a forward in each clock, on many lists.
#include "Vhardware_linked_list_queue.h"
#include "linked_list_queue_stream.h"
#include "simulation_speed.h"

#include <verilated.h>

namespace fpga_verbs::bench {
namespace {

class Busy {
public:
  Busy() { start_anew(rtl_); }

  uint32_t step() {
    rtl_.push = rtl_.inbound_credits > 4;
    rtl_.push_index = random_.below(indices);
    put_unit(rtl_.push_unit, {random_.bits(), random_.bits()});
    rtl_.mark_ready = rtl_.pushed && rtl_.pushed_result == 0;
    rtl_.mark_entry = rtl_.pushed_entry;
    rtl_.forward = 1;
    tick(rtl_);
    return rtl_.answered && rtl_.answered_result == 0;
  }

private:
  // Queue pairs, a quarter of those that the index can hold.
  static constexpr uint32_t indices = content_addressed ? 4 * lists : lists;

  Vhardware_linked_list_queue rtl_;
  Random random_{1};
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::measure<fpga_verbs::bench::Busy>(count, arguments);
}
