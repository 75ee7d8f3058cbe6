// The library that opens rtl: has the Verilated blocks, and is this library otherwise.
#include "driver/rtl_boards.h"
#include "rtl/rtl_boards.h"
#include "rtl/rtl_sizes.h"

namespace fpga_verbs::verbs {

namespace {

[[gnu::constructor]] void offer() {
  static const driver::RtlBoards boards{.usual = rtl::usual_parameters(), .make = rtl::make_rtl_board};
  driver::offer_rtl_boards(boards);
}

} // namespace

} // namespace fpga_verbs::verbs
