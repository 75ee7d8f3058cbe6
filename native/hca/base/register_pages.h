#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

// The register pages of all functions, for a block that reads them without side effects.
class RegisterPages {
public:
  virtual ~RegisterPages() = default;

  // The DWORD at `offset`, a multiple of 4, of a function that exists. All ones: no register, or one whose
  // read has a side effect.
  virtual uint32_t peek(unsigned underlying_function, uint32_t offset) const = 0;
};

} // namespace fpga_verbs::hca
