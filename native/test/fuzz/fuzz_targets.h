#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fpga_verbs::test {

// Fuzz targets. Each accepts any bytes, creates its own stepped board, and returns an empty text or the
// property that the device has broken.
struct FuzzTarget {
  const char* name;
  std::string (*run)(std::span<const uint8_t> input);
};

// Transactions to the BARs: everything that one function may store and read there.
std::string fuzz_bar_transactions(std::span<const uint8_t> input);
// Management commands with mailboxes that no driver would write.
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
