#pragma once

#include "hca/base/parameters.h"

#include <string>

namespace fpga_verbs::rtl {

// Sizes that the RTL is Verilated for: small, because all of it is computed every clock. CMakeLists.txt
// passes them to Verilator; a board may have less of most.
inline constexpr unsigned lanes_of_rtl = FPGA_VERBS_RTL_TRANSMIT_VIRTUAL_LANES;
inline constexpr unsigned vcbs_of_rtl = FPGA_VERBS_RTL_VIRTUAL_COLLECT_BUFFERS;
inline constexpr unsigned pool_of_rtl = FPGA_VERBS_RTL_PHYSICAL_COLLECT_BUFFERS; // a board has as many
inline constexpr unsigned entries_of_rtl = pool_of_rtl + spec::dedicated_physical_collect_buffers;
inline constexpr unsigned beat_bytes_of_rtl = FPGA_VERBS_RTL_BEAT_BYTES; // a write of the host is one beat
inline constexpr unsigned queue_pairs_of_rtl = FPGA_VERBS_RTL_QUEUE_PAIRS;

// Those of a board that is as large as the RTL.
hca::HcaParameters usual_parameters();

// The size of a board that the RTL does not have, in a sentence; empty: there is none.
std::string check_sizes(const hca::HcaParameters& parameters);

} // namespace fpga_verbs::rtl
