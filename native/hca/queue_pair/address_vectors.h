#pragma once

#include "hca/base/parameters.h"
#include "spec/contexts.h"
#include "spec/queues.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace fpga_verbs::hca {

// The address vector in a field of another format.
inline spec::AddressVector read_address_vector(std::span<const uint8_t, spec::AddressVector::bytes> bytes) {
  spec::AddressVector address_vector;
  std::memcpy(&address_vector, bytes.data(), sizeof address_vector);
  return address_vector;
}

// What is wrong with an address vector that begins at this bit of an input mailbox, or nothing.
std::optional<spec::ManagementCompletion> check_address_vector(const spec::AddressVector& address_vector,
                                                               uint64_t first_bit,
                                                               const HcaParameters& parameters);

} // namespace fpga_verbs::hca
