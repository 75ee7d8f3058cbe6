#pragma once

#include "hca/base/parameters.h"

#include <string>

namespace fpga_verbs::hca {

// The fault of a board's parameters, and the right range; empty when an Hca can be made of them.
std::string check_parameters(const HcaParameters& parameters);

} // namespace fpga_verbs::hca
