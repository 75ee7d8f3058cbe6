#pragma once

#include "hca/base/data_link.h"
#include "hca/base/wiring.h"
#include "spec/data_units.h"

namespace fpga_verbs::hca {

// The links of an HCA, by name.
struct HcaLinks {
#define FPGA_VERBS_LINK(name, Unit, depth, ...) DataLink<spec::Unit> name{depth};
  FPGA_VERBS_LINKS(FPGA_VERBS_LINK)
#undef FPGA_VERBS_LINK
};

} // namespace fpga_verbs::hca
