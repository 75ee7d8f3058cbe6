#pragma once

#include "spec/contexts.h"

#include <cstdint>
#include <cstring>
#include <span>

namespace fpga_verbs::hca {

// Reads the address vector in a field of another format.
inline spec::AddressVector read_address_vector(std::span<const uint8_t, spec::AddressVector::bytes> bytes) {
  spec::AddressVector address_vector;
  std::memcpy(&address_vector, bytes.data(), sizeof address_vector);
  return address_vector;
}

} // namespace fpga_verbs::hca
