#include "wire/icrc_implementations.h"
#include "wire/icrc_polynomial.h"

#include <array>
#include <cstring>

// Slicing by 8: M. E. Kounavis and F. L. Berry, "A systematic approach to building high performance
// software-based CRC generators", 2005.
namespace fpga_verbs::wire {
namespace {

// tables[n][byte]: the register after `byte` and n zero bytes.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables tables_of(Polynomial polynomial) {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (unsigned bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial.reflected : 0);
    tables[0][byte] = crc;
  }
  for (unsigned zeros = 1; zeros < tables.size(); ++zeros)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[zeros - 1][byte];
      tables[zeros][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  return tables;
}

constexpr Tables icrc_tables = tables_of(icrc_polynomial);
constexpr Tables vcrc_tables = tables_of(vcrc_polynomial);

uint32_t slice(const Tables& tables, uint32_t crc, const uint8_t* data, size_t bytes) {
  for (; bytes >= 8; data += 8, bytes -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, sizeof(word));
    word ^= crc;
    crc = 0;
    for (unsigned byte = 0; byte < 8; ++byte)
      crc ^= tables[7 - byte][(word >> (8 * byte)) & 0xff];
  }
  for (; bytes != 0; ++data, --bytes)
    crc = (crc >> 8) ^ tables[0][(crc ^ *data) & 0xff];
  return crc;
}

} // namespace

uint32_t icrc_slicing(uint32_t crc, const uint8_t* data, size_t bytes) {
  return slice(icrc_tables, crc, data, bytes);
}

uint32_t vcrc_slicing(uint32_t crc, const uint8_t* data, size_t bytes) {
  return slice(vcrc_tables, crc, data, bytes);
}

} // namespace fpga_verbs::wire
