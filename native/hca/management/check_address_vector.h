#pragma once

#include "hca/base/parameters.h"
#include "spec/contexts.h"
#include "spec/queues.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// Checks the address vector that begins at this bit of an input mailbox. Returns the error answer, or none.
std::optional<spec::ManagementCompletion> check_address_vector(const spec::AddressVector& address_vector,
                                                               uint64_t first_bit,
                                                               const HcaParameters& parameters);

} // namespace fpga_verbs::hca
