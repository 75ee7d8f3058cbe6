#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace fpga_verbs::hca {

// Stores 64 B to memory that the host polls, aligned to 4 B, in order, as HostPort::write does: a reader that
// sees the last DWORD sees all. Where the memory is aligned to 8 B, two DWORDs at a time.
inline void store_line_in_order(uint8_t* destination, const uint8_t* source) {
  const auto store = [=]<class Word, size_t... at>(Word word, std::index_sequence<at...>) {
    ((std::memcpy(&word, source + at * sizeof word, sizeof word),
      std::atomic_ref(reinterpret_cast<Word*>(destination)[at]).store(word, std::memory_order_release)),
     ...);
  };
  if (reinterpret_cast<uintptr_t>(destination) % sizeof(uint64_t) == 0) [[likely]]
    store(uint64_t{}, std::make_index_sequence<8>());
  else
    store(uint32_t{}, std::make_index_sequence<16>());
}

// The same, of DWORDs that need not be in memory themselves.
[[gnu::always_inline]] inline void store_line_in_order(uint8_t* destination,
                                                       const std::array<uint32_t, 16>& dwords) {
  const auto store = [destination]<class Value>(size_t at, Value value) {
    std::atomic_ref(reinterpret_cast<Value*>(destination)[at]).store(value, std::memory_order_release);
  };
  const auto in_pairs = [&]<size_t... at>(std::index_sequence<at...>) {
    (store(at, uint64_t{dwords[2 * at + 1]} << 32 | dwords[2 * at]), ...);
  };
  const auto alone = [&]<size_t... at>(std::index_sequence<at...>) { (store(at, dwords[at]), ...); };
  if (reinterpret_cast<uintptr_t>(destination) % sizeof(uint64_t) == 0) [[likely]]
    in_pairs(std::make_index_sequence<8>());
  else
    alone(std::make_index_sequence<16>());
}

} // namespace fpga_verbs::hca
