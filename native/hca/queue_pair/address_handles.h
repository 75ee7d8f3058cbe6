#pragma once

#include "hca/base/numbered_objects.h"
#include "spec/contexts.h"
#include "spec/parameters.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The destination of datagrams (InfiniBand volume 1, 10.2.2.2): an address vector in a function's protection
// domain.
struct AddressHandle {
  uint32_t protection_domain = 0;
  spec::AddressVector address_vector;
};

struct AddressHandles : NumberedObjects<AddressHandle> {
  AddressHandles() : NumberedObjects(spec::address_handles) {}
};

} // namespace fpga_verbs::hca
