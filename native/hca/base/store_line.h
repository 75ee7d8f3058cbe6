#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fpga_verbs::hca {

// Stores 64 B to memory that the host polls, aligned to 4 B, in order, as HostPort::write does: a reader that
// sees the last DWORD sees all. Where the memory is aligned to 8 B, two DWORDs at a time.
inline void store_line_in_order(uint8_t* destination, const std::array<uint32_t, 16>& dwords) {
  const auto store = [destination]<class Word, size_t... at>(const Word& words, std::index_sequence<at...>) {
    using Value = typename Word::value_type;
    (std::atomic_ref(reinterpret_cast<Value*>(destination)[at]).store(words[at], std::memory_order_release),
     ...);
  };
  using Pairs = std::array<uint64_t, 8>;
  if (reinterpret_cast<uintptr_t>(destination) % sizeof(uint64_t) == 0) [[likely]]
    store(std::bit_cast<Pairs>(dwords), std::make_index_sequence<8>());
  else
    store(dwords, std::make_index_sequence<16>());
}

} // namespace fpga_verbs::hca
