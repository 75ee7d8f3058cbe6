#pragma once

#include "hca/bit_mask.h"
#include "hca/secded.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace fpga_verbs::hca {

// The data memory of a linked list queue: one data unit per entry, in words of 64 data bits and 8 check bits.
// Instead of computing check bits on every write, an entry keeps the bits that have flipped since; only where
// there are any does a read go through the arithmetic of secded.h.
template <class DataUnit> class DataMemory {
  static_assert(std::is_trivially_copyable_v<DataUnit> && sizeof(DataUnit) <= 16,
                "data units are handles of at most 16 B");

public:
  static constexpr size_t words = (sizeof(DataUnit) + 7) / 8;
  static constexpr size_t entry_bits = words * secded_bits;

  struct Read {
    SecdedStatus status;
    DataUnit unit;
  };

  explicit DataMemory(size_t entries) : units_(entries), flipped_(entries), flawed_(entries) {}

  size_t entries() const { return units_.size(); }

  void write(size_t entry, const DataUnit& unit) {
    units_[entry] = unit;
    if (flawed_.test(entry)) [[unlikely]]
      heal(entry);
  }

  // The data unit, corrected where it can be; memory stays as it is.
  Read read(size_t entry) const {
    if (!flawed_.test(entry)) [[likely]]
      return {SecdedStatus::clean, units_[entry]};
    return decode(entry);
  }

  // Reads, and writes back what was corrected.
  SecdedStatus scrub(size_t entry) {
    if (!flawed_.test(entry)) [[likely]]
      return SecdedStatus::clean;
    const Read read = decode(entry);
    if (read.status != SecdedStatus::uncorrectable)
      write(entry, read.unit);
    return read.status;
  }

  // Flips a stored bit: bits 0 to 63 are data and 64 to 71 check bits of word 0, and so on.
  void flip(size_t entry, size_t bit) {
    assert(bit < entry_bits);
    Flipped& flipped = flipped_[entry];
    const size_t word = bit / secded_bits;
    const size_t place = bit % secded_bits;
    if (place < secded_data_bits)
      flipped.data[word] ^= uint64_t{1} << place;
    else
      flipped.check[word] = static_cast<uint8_t>(flipped.check[word] ^ 1U << (place - secded_data_bits));
    flawed_.set(entry);
  }

  // True the first time since the entry was written or corrected: an uncorrectable error is reported once.
  bool first_report(size_t entry) {
    const bool first = !flipped_[entry].reported;
    flipped_[entry].reported = true;
    return first;
  }

private:
  using Words = std::array<uint64_t, words>;

  struct Flipped {
    Words data{};
    std::array<uint8_t, words> check{};
    bool reported = false;
  };

  void heal(size_t entry) {
    flipped_[entry] = {};
    flawed_.clear(entry);
  }

  Read decode(size_t entry) const {
    const Flipped& flipped = flipped_[entry];
    Words written{};
    std::memcpy(written.data(), &units_[entry], sizeof(DataUnit));
    Read read{SecdedStatus::clean, units_[entry]};
    Words corrected{};
    for (size_t word = 0; word < words; ++word) {
      const auto check = static_cast<uint8_t>(secded_encode(written[word]) ^ flipped.check[word]);
      const SecdedWord decoded = secded_decode(written[word] ^ flipped.data[word], check);
      corrected[word] = decoded.data;
      if (decoded.status > read.status)
        read.status = decoded.status;
    }
    std::memcpy(&read.unit, corrected.data(), sizeof(DataUnit));
    return read;
  }

  std::vector<DataUnit> units_;
  std::vector<Flipped> flipped_;
  BitMask flawed_;
};

} // namespace fpga_verbs::hca
