#pragma once

#include "hca/lists/secded.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace fpga_verbs::hca {

// The data memory of a linked list queue: one data unit per entry, in words of 64 data bits and 8 check bits.
// It does not compute check bits on every write. Instead an entry stores the bits that were flipped since,
// and only a read of an entry with flipped bits uses the arithmetic of secded.h.
//
// A block must give back PCB, packet buffer and credits of a data unit even if the data unit is unreadable.
// So an entry keeps a second copy of it outside this code: identity().
template <class DataUnit> class DataMemory {
  static_assert(std::is_trivially_copyable_v<DataUnit> && sizeof(DataUnit) <= 16,
                "data units are handles of at most 16 B");

public:
  static constexpr size_t words = (sizeof(DataUnit) + 7) / 8;
  static constexpr size_t entry_bits = words * secded_bits;

  explicit DataMemory(size_t entries) : units_(entries), flipped_(entries) {}

  void write(size_t entry, const DataUnit& unit) {
    units_[entry] = unit;
    if (flawed(entry)) [[unlikely]]
      repair(entry);
  }

  // Whether bits of the entry were flipped since it was written or corrected.
  bool flawed(size_t entry) const { return flawed_entries_ != 0 && flipped_[entry].any; }

  // The second copy of a data unit: to give back what it refers to, never to execute it.
  const DataUnit& identity(size_t entry) const { return units_[entry]; }

  // Reads a data unit, corrected if possible; does not change the memory.
  SecdedStatus read(size_t entry, DataUnit& unit) const {
    unit = units_[entry];
    return flawed(entry) ? decode(entry, unit) : SecdedStatus::clean;
  }

  SecdedStatus check(size_t entry) const {
    DataUnit unit;
    return read(entry, unit);
  }

  // Reads, and writes back a correction. Three wrong bits in a word look like another single one, so that the
  // correction is wrong: later reads return it, but identity() stays.
  SecdedStatus scrub(size_t entry) {
    DataUnit unit;
    const SecdedStatus status = read(entry, unit);
    if (status == SecdedStatus::uncorrectable || !flawed(entry))
      return status;
    if (words_of(unit) == words_of(units_[entry]))
      repair(entry);
    else
      store(entry, words_of(unit));
    return status;
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
    flawed_entries_ += flipped.any ? 0 : 1;
    flipped.any = true;
  }

  // True for the first report of an uncorrectable error since the entry was written or corrected.
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
    bool any = false;
    bool reported = false;
  };

  [[gnu::cold, gnu::noinline]] void repair(size_t entry) {
    flipped_[entry] = {};
    --flawed_entries_;
  }

  static Words words_of(const DataUnit& unit) {
    Words content{};
    std::memcpy(content.data(), &unit, sizeof(DataUnit));
    return content;
  }

  // Has the entry hold other data, with the check bits of these.
  void store(size_t entry, const Words& content) {
    const Words own = words_of(units_[entry]);
    Flipped& flipped = flipped_[entry] = {.any = true};
    for (size_t word = 0; word < words; ++word) {
      flipped.data[word] = content[word] ^ own[word];
      flipped.check[word] = static_cast<uint8_t>(secded_encode(content[word]) ^ secded_encode(own[word]));
    }
  }

  // Decodes the stored word of `unit`, including flipped bits.
  SecdedStatus decode(size_t entry, DataUnit& unit) const {
    const Flipped& flipped = flipped_[entry];
    SecdedStatus status = SecdedStatus::clean;
    Words content = words_of(unit);
    for (size_t word = 0; word < words; ++word) {
      const auto check = static_cast<uint8_t>(secded_encode(content[word]) ^ flipped.check[word]);
      const SecdedWord decoded = secded_decode(content[word] ^ flipped.data[word], check);
      content[word] = decoded.data;
      status = std::max(status, decoded.status);
    }
    std::memcpy(static_cast<void*>(&unit), content.data(), sizeof(DataUnit));
    return status;
  }

  std::vector<DataUnit> units_;
  std::vector<Flipped> flipped_;
  size_t flawed_entries_ = 0;
};

} // namespace fpga_verbs::hca
