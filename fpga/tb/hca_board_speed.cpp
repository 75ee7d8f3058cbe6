// hca_board with a beat of a command in each clock in which it accepts one, and with kick records that the
// host reads.
#include "Vhca_board.h"
#include "front_speed.h"

#include <verilated.h>

namespace fpga_verbs::bench {
namespace {

class Busy {
public:
  Busy() {
    host_.begin([this] { step(); });
  }

  // Returns the number of commands that have ended.
  uint32_t step() {
    host_.drive();
    rtl_.clock = 0;
    rtl_.eval();
    host_.take();
    const uint32_t ended = rtl_.command_ended;
    rtl_.clock = 1;
    rtl_.eval();
    host_.settle();
    return ended;
  }

private:
  Vhca_board rtl_;
  BusyHost<Vhca_board> host_{rtl_};
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::measure<fpga_verbs::bench::Busy>(count, arguments);
}
