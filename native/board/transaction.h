#pragma once

#include <array>
#include <cstdint>

namespace fpga_verbs::board {

enum class TransactionKind : uint8_t { write, read };

// A PCIe memory transaction between host and board, as a logic analyzer on the link shows it: 1 to 64 bytes
// that do not cross a 64 B boundary. Byte enables are those of the TLP: only the first and the last DWORD may
// be partial.
struct Transaction {
  TransactionKind kind = TransactionKind::write;
  uint8_t underlying_function = 0; // whose BAR
  uint8_t bar = 0;
  uint8_t length = 0;  // bytes covered, a multiple of 4
  uint64_t offset = 0; // in the BAR, DWORD aligned
  uint64_t byte_enables = 0;
  uint64_t time = 0; // device clock, ticks, when it reached the device
  alignas(8) std::array<uint8_t, 64> data{};
};

} // namespace fpga_verbs::board
