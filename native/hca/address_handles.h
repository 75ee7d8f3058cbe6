#pragma once

#include "spec/contexts.h"
#include "spec/parameters.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// Where datagrams go (InfiniBand volume 1, 10.2.2.2): address vectors, each of a function's protection
// domain. A number is index and generation, which advances when an index comes free, so that numbers of
// former handles are refused.
class AddressHandles {
public:
  static constexpr uint32_t reserved_indices = 1; // number 0 names none

  struct Entry {
    uint32_t protection_domain = 0;
    spec::AddressVector address_vector;
  };

  AddressHandles();

  // A new handle's number; nothing: all are in use.
  std::optional<uint32_t> create(unsigned underlying_function, const Entry& entry);
  // The handle that the function owns under this number, or null.
  const Entry* find(unsigned underlying_function, uint32_t number) const;
  // One that find() gives.
  void destroy(uint32_t number);

  void reset_function(unsigned underlying_function);

private:
  static constexpr unsigned index_bits = 16;
  static_assert(spec::address_handles <= uint32_t{1} << index_bits);

  struct Slot {
    Entry entry;
    uint8_t generation = 0;
    uint8_t underlying_function = 0;
    bool valid = false;
  };

  std::vector<Slot> slots_;
  std::vector<uint16_t> free_; // indices; the one freed last is taken first
};

} // namespace fpga_verbs::hca
