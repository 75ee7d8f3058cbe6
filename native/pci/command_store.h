#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fpga_verbs::pci {

// A way to store commands to a BAR. `store` copies whole units of 64 B by the stores that it is named for, in
// increasing order, and the rest in stores of 8 B, up to `bytes` rounded up to 8, never beyond. `destination`
// is a multiple of 64; `source` is readable as far as is copied.
struct CommandStore {
  const char* name;     // "MOVDIR64B"
  unsigned store_bytes; // of one store
  bool whole_lines;     // a unit of 64 B is one transaction, even where the mapping is uncached
  void (*store)(volatile uint8_t* destination, const void* source, size_t bytes);
};

// Those that this processor has, widest first; the last is stores of 8 B, which each has.
std::span<const CommandStore> command_stores();

// The widest where the mapping combines. Where it does not, wide stores are cut as the processor likes: then
// MOVDIR64B, or 8 B.
const CommandStore& choose_command_store(bool combines);

} // namespace fpga_verbs::pci
