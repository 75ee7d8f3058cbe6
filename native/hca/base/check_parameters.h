#pragma once

#include "hca/base/parameters.h"

#include <string>

namespace fpga_verbs::hca {

// The first invalid parameter of a board and its valid range; empty if all are valid.
std::string check_parameters(const HcaParameters& parameters);

} // namespace fpga_verbs::hca
