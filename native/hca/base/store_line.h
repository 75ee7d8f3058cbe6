#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fpga_verbs::hca {

// Stores 64 B to memory that the host polls, aligned to 4 B, one DWORD after another, as HostPort::write
// does: a reader that sees the last one sees all. Entries are built from DWORDs and need not be in memory
// first.
inline void store_line_in_order(uint8_t* destination, const std::array<uint32_t, 16>& dwords) {
  const auto store = [&]<size_t... at>(std::index_sequence<at...>) {
    (std::atomic_ref(reinterpret_cast<uint32_t*>(destination)[at])
         .store(dwords[at], std::memory_order_release),
     ...);
  };
  store(std::make_index_sequence<16>());
}

} // namespace fpga_verbs::hca
