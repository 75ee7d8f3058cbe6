#pragma once

#include "spec/enums.h"

#include <cstdint>

namespace fpga_verbs::hca {

// A write transaction as it reaches the device: at most 64 B that do not cross a 64 B boundary, with the byte
// enables of the TLP. The region and the page identify the function, VCB or register page. A burst is several
// consecutive transactions with all bytes enabled: up to 320 B.
struct BarWrite {
  // Value of `underlying_function`: the board does not know whose BAR was written; only the address
  // identifies it.
  static constexpr uint8_t any_function = 0xff;

  spec::RegionType region = spec::RegionType::none;
  uint8_t underlying_function = any_function; // whose BAR was written
  uint16_t page = 0;                          // VCB number or underlying function; 0 elsewhere
  uint32_t offset = 0;                        // bytes in the page, DWORD aligned
  uint32_t length = 0;                        // bytes, a multiple of 4, 4 to 64; of a burst to 320
  uint64_t byte_enables = 0;                  // bit i: data[i] is written
  const uint8_t* data = nullptr;              // `length` bytes, for as long as the call
};

} // namespace fpga_verbs::hca
