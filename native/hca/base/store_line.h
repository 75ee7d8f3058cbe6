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

inline void store_line_in_order(uint8_t* destination, const std::array<uint32_t, 16>& dwords) {
  store_line_in_order(destination, reinterpret_cast<const uint8_t*>(dwords.data()));
}

} // namespace fpga_verbs::hca
