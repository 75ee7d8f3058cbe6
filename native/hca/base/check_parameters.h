#pragma once

#include "hca/base/parameters.h"

#include <string>

namespace fpga_verbs::hca {

// What is wrong with the parameters of a board, and what would be right; empty when an Hca can be made of
// them.
std::string check_parameters(const HcaParameters& parameters);

} // namespace fpga_verbs::hca
