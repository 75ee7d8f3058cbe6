#include "hca/registers/register_page.h"

#include <cstring>

namespace fpga_verbs::hca {

void RegisterPage::read_effect(uint32_t) {}

bool RegisterPage::has_read_effect(uint32_t) const { return false; }

std::optional<RegisterPage::Register> RegisterPage::wide_register_below(uint32_t offset) const {
  if (offset % 8 != 4)
    return std::nullopt;
  const std::optional<Register> below = value(offset - 4);
  return below && below->wide ? below : std::nullopt;
}

uint32_t RegisterPage::read(uint32_t offset) {
  if (const std::optional<Register> wide = wide_register_below(offset)) {
    const bool latched = read_high_.valid && read_high_.offset == offset - 4;
    read_high_.valid = false;
    return latched ? read_high_.half : static_cast<uint32_t>(wide->value >> 32);
  }
  if (value(offset))
    read_effect(offset);
  const std::optional<Register> found = value(offset);
  if (!found) {
    count_refused();
    return 0;
  }
  if (found->wide)
    read_high_ = {.valid = true, .offset = offset, .half = static_cast<uint32_t>(found->value >> 32)};
  return static_cast<uint32_t>(found->value);
}

uint32_t RegisterPage::peek(uint32_t offset) const {
  constexpr uint32_t all_ones = ~uint32_t{0};
  if (has_read_effect(offset))
    return all_ones;
  if (const std::optional<Register> wide = wide_register_below(offset))
    return static_cast<uint32_t>(wide->value >> 32);
  const std::optional<Register> found = value(offset);
  return found ? static_cast<uint32_t>(found->value) : all_ones;
}

void RegisterPage::write(const BarWrite& write) {
  for (uint32_t at = 0; at < write.length; at += 4) {
    const unsigned enables = static_cast<unsigned>(write.byte_enables >> at) & 0xf;
    if (enables == 0)
      continue;
    if (enables != 0xf) {
      count_refused();
      continue;
    }
    uint32_t double_word = 0;
    std::memcpy(&double_word, write.data + at, sizeof double_word);
    write_double_word(write.offset + at, double_word);
  }
}

void RegisterPage::write_double_word(uint32_t offset, uint32_t double_word) {
  if (const std::optional<Register> wide = wide_register_below(offset)) {
    const bool complete = written_low_.valid && written_low_.offset == offset - 4;
    written_low_.valid = false;
    const uint32_t low = complete ? written_low_.half : static_cast<uint32_t>(wide->value);
    if (!set_value(offset - 4, uint64_t{double_word} << 32 | low))
      count_refused();
    return;
  }
  const std::optional<Register> found = value(offset);
  if (found && found->wide)
    written_low_ = {.valid = true, .offset = offset, .half = double_word};
  else if (!found || !set_value(offset, double_word))
    count_refused();
}

} // namespace fpga_verbs::hca
