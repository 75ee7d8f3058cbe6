#include "hca/lists/secded.h"

#include <array>
#include <bit>

namespace fpga_verbs::hca {
namespace {

constexpr std::array<uint8_t, secded_data_bits> make_columns() {
  std::array<uint8_t, secded_data_bits> columns{};
  unsigned bit = 0;
  for (unsigned value = 0; value < 256; ++value)
    if (std::popcount(value) == 3)
      columns[bit++] = static_cast<uint8_t>(value);
  for (int rotation = 0; bit < secded_data_bits; ++rotation)
    columns[bit++] = std::rotl(uint8_t{0x1f}, rotation);
  return columns;
}

constexpr auto columns = make_columns();

// Row r: the data bits that check bit r covers.
constexpr std::array<uint64_t, secded_check_bits> make_rows() {
  std::array<uint64_t, secded_check_bits> rows{};
  for (unsigned bit = 0; bit < secded_data_bits; ++bit)
    for (unsigned row = 0; row < secded_check_bits; ++row)
      if ((columns[bit] >> row & 1) != 0)
        rows[row] |= uint64_t{1} << bit;
  return rows;
}

constexpr auto rows = make_rows();

constexpr uint8_t no_bit = 0xff;

// The wrong bit that a syndrome identifies: data bits, then check bits.
constexpr std::array<uint8_t, 256> make_wrong_bits() {
  std::array<uint8_t, 256> wrong_bits{};
  wrong_bits.fill(no_bit);
  for (unsigned bit = 0; bit < secded_data_bits; ++bit)
    wrong_bits[columns[bit]] = static_cast<uint8_t>(bit);
  for (unsigned row = 0; row < secded_check_bits; ++row)
    wrong_bits[1U << row] = static_cast<uint8_t>(secded_data_bits + row);
  return wrong_bits;
}

constexpr auto wrong_bits = make_wrong_bits();

} // namespace

uint8_t secded_encode(uint64_t data) {
  unsigned check = 0;
  for (unsigned row = 0; row < secded_check_bits; ++row)
    check |= (static_cast<unsigned>(std::popcount(data & rows[row])) & 1U) << row;
  return static_cast<uint8_t>(check);
}

SecdedWord secded_decode(uint64_t data, uint8_t check) {
  const unsigned syndrome = secded_encode(data) ^ unsigned { check };
  if (syndrome == 0)
    return {SecdedStatus::clean, data};
  const uint8_t bit = wrong_bits[syndrome];
  if (bit == no_bit)
    return {SecdedStatus::uncorrectable, data};
  return {SecdedStatus::corrected, bit < secded_data_bits ? data ^ uint64_t{1} << bit : data};
}

} // namespace fpga_verbs::hca
