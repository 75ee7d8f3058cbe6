#pragma once

#include "hca/collect/bar_write.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// A page of 4 B registers. A 64-bit register is two of them: reading the low half latches the high half, and
// a write takes effect with the high half. If another 64-bit register has used the latch since, a read of the
// high half returns the current value.
class RegisterPage {
public:
  virtual ~RegisterPage() = default;

  // The DWORD at `offset`, a multiple of 4. A reserved offset reads 0 and is counted.
  uint32_t read(uint32_t offset);

  // The same without side effect: no latch, no count. All ones: no register, or one whose read has an effect.
  uint32_t peek(uint32_t offset) const;

  // Writes the whole DWORDs of a transaction, in ascending order. Partial DWORDs and refused writes are
  // counted.
  void write(const BarWrite& write);

protected:
  struct Register {
    uint64_t value = 0; // 0 where it is write-only
    bool wide = false;  // 64 bits
  };

  // The register that begins at `offset`, without side effect; nothing: none begins there.
  virtual std::optional<Register> value(uint32_t offset) const = 0;

  // Side effect of a read; called with the offset of a register.
  virtual void read_effect(uint32_t offset);
  virtual bool has_read_effect(uint32_t offset) const;

  // Writes the register that begins at `offset`; false: read-only, or an invalid value.
  virtual bool set_value(uint32_t offset, uint64_t value) = 0;

  // Counts a refused access: a reserved offset, a read-only register or a partial DWORD.
  virtual void count_refused() = 0;

private:
  struct Half {
    bool valid = false;
    uint32_t offset = 0; // of the register
    uint32_t half = 0;
  };

  // The 64-bit register whose high half is at `offset`.
  std::optional<Register> wide_register_below(uint32_t offset) const;
  void write_double_word(uint32_t offset, uint32_t double_word);

  Half read_high_;   // latched by the read of a low half
  Half written_low_; // waits for its high half
};

// Index of a repeated register at an offset; nothing: another register.
constexpr std::optional<uint32_t> register_index(uint32_t offset, uint32_t first, uint32_t count,
                                                 uint32_t stride) {
  if (offset < first || (offset - first) % stride != 0 || (offset - first) / stride >= count)
    return std::nullopt;
  return (offset - first) / stride;
}

} // namespace fpga_verbs::hca
