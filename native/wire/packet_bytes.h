#pragma once

#include <cstdint>
#include <cstring>

namespace fpga_verbs::wire {

// Reads the header at `at`, which needs no alignment.
template <class Header> Header read_header(const uint8_t* at) {
  Header header;
  std::memcpy(&header, at, sizeof(header));
  return header;
}

// Writes a header to `at`, which needs no alignment.
template <class Header> void write_header(uint8_t* at, const Header& header) {
  std::memcpy(at, &header, sizeof(header));
}

} // namespace fpga_verbs::wire
