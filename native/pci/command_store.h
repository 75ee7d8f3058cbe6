#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fpga_verbs::pci {

// A way to store commands to a BAR. `store` copies whole units of 64 B with the stores of its name, in
// ascending order, and the rest with stores of 8 B, up to `bytes` rounded up to 8, never beyond.
// `destination` is a multiple of 64; `source` must be readable as far as it is copied.
struct CommandStore {
  const char* name;     // "MOVDIR64B"
  unsigned store_bytes; // of one store
  bool whole_lines;     // a unit of 64 B is one transaction, even where the mapping is uncached
  void (*store)(volatile uint8_t* destination, const void* source, size_t bytes);
};

// The stores that this processor supports, widest first; the last is 8 B stores, which every processor has.
std::span<const CommandStore> command_stores();

// Selects the widest store for a write-combining mapping. On other mappings the processor splits wide stores
// arbitrarily, so only MOVDIR64B or 8 B qualify.
const CommandStore& choose_command_store(bool combines);

} // namespace fpga_verbs::pci
