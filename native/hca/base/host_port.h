#pragma once

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

enum class DmaStatus : uint8_t { ok, fault };

// The device's accesses to the host: memory, by DMA, and interrupts. Every access names its underlying
// function.
class HostPort {
public:
  virtual ~HostPort() = default;

  // Reads `bytes` at DMA address `address`. A fault leaves `destination` unspecified.
  virtual DmaStatus read(unsigned underlying_function, uint64_t address, void* destination, size_t bytes) = 0;

  // Whether a read takes time; from then on it may. read_latency() gives the time of the next read, in clock
  // ticks: read() itself takes none.
  bool reads_take_time() const { return reads_take_time_; }
  virtual uint64_t read_latency(unsigned /*underlying_function*/, uint64_t /*address*/, size_t /*bytes*/) {
    return 0;
  }

  // Writes `bytes` at `address`, visible to the host in increasing address order, the last aligned DWORD with
  // release semantics (Relaxed Ordering clear). A fault leaves memory outside the mappings untouched.
  virtual DmaStatus write(unsigned underlying_function, uint64_t address, const void* source,
                          size_t bytes) = 0;

  // Announces a possible write of 64 B at `address`, a multiple of 64: memory prepares for it, without a
  // visible change. Returns the memory itself if store_line_in_order() may replace write() until the end of
  // the device's unit of work; null: use write().
  virtual uint8_t* expect_line(unsigned /*underlying_function*/, uint64_t /*address*/) { return nullptr; }

  // Sends the MSI-X message `vector` of the function, after all writes before it.
  virtual void interrupt(unsigned underlying_function, unsigned vector) = 0;

protected:
  bool reads_take_time_ = false;
};

} // namespace fpga_verbs::hca
