#include "driver/rtl_boards.h"

namespace fpga_verbs::driver {

namespace {

constinit const RtlBoards* offered = nullptr;

} // namespace

void offer_rtl_boards(const RtlBoards& boards) { offered = &boards; }

const RtlBoards* rtl_boards() { return offered; }

} // namespace fpga_verbs::driver
