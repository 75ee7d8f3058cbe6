#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fpga_verbs::test {

// A use of a fuzzer's input. Each takes any bytes, makes a stepped board of its own, and gives
// an empty text, or says which promise of the device was broken.
struct FuzzTarget {
  const char* name;
  std::string (*run)(std::span<const uint8_t> input);
};

// Transactions to the BARs: whatever one function may store and read there.
std::string fuzz_bar_transactions(std::span<const uint8_t> input);
// Management commands whose mailboxes were made by no driver.
std::string fuzz_mailboxes(std::span<const uint8_t> input);
// Packets that arrive at a port.
std::string fuzz_packets(std::span<const uint8_t> input);
// Lines that a client writes into the ring of a served BAR.
std::string fuzz_served_ring(std::span<const uint8_t> input);

inline constexpr FuzzTarget fuzz_targets[] = {
    {"bar_transactions", fuzz_bar_transactions},
    {"mailboxes", fuzz_mailboxes},
    {"packets", fuzz_packets},
    {"served_ring", fuzz_served_ring},
};

} // namespace fpga_verbs::test
