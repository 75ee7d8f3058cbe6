#pragma once

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

enum class DmaStatus : uint8_t { ok, fault };

// What the device reaches on the host: memory, by DMA, and interrupts. Every access carries its underlying
// function.
class HostPort {
public:
  virtual ~HostPort() = default;

  // Reads `bytes` at DMA address `address`. A fault leaves `destination` unspecified.
  virtual DmaStatus read(unsigned underlying_function, uint64_t address, void* destination, size_t bytes) = 0;

  // Writes `bytes` at `address`, visible to the host in increasing address order, the last aligned DWORD with
  // release semantics (Relaxed Ordering clear). A fault leaves memory outside the mappings untouched.
  virtual DmaStatus write(unsigned underlying_function, uint64_t address, const void* source,
                          size_t bytes) = 0;

  // A write at `address` is about to come: memory may make ready for it. Nothing that can be seen changes.
  virtual void expect_write(unsigned /*underlying_function*/, uint64_t /*address*/) {}

  // Sends the MSI-X message `vector` of the function, after all writes before it.
  virtual void interrupt(unsigned underlying_function, unsigned vector) = 0;
};

} // namespace fpga_verbs::hca
