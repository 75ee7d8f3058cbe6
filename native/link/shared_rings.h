#pragma once

#include "link/link.h"
#include "link/sealed_memory.h"
#include "spec/parameters.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fpga_verbs::link {

// A packet ring in memory that two processes share. A process checks every field that the other process
// writes.
struct SharedRing {
  static constexpr uint64_t packets = 64;

  struct Slot {
    std::atomic<uint32_t> length;
    std::array<uint8_t, spec::packet_buffer_bytes> bytes;
  };

  alignas(64) std::atomic<uint64_t> tail; // packets that were put in
  std::atomic<uint32_t> producer_waits;   // it found the ring full
  alignas(64) std::atomic<uint64_t> head; // packets that were taken out
  std::atomic<uint32_t> consumer_sleeps;  // it found the ring empty
  alignas(64) std::array<Slot, packets> slots;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// The rings between two ends: for each end, the lanes that it fills.
struct SharedRings {
  std::array<std::array<SharedRing, lanes>, 2> from;
};

// A mapping of them.
class SharedRingsMapping {
public:
  // Creates memory with a sealed size. Null: failed; errno has the reason.
  static std::shared_ptr<SharedRingsMapping> make();
  // Maps the memory behind a descriptor from another process. Null: not made by make().
  static std::shared_ptr<SharedRingsMapping> adopt(Descriptor memory);

  explicit SharedRingsMapping(SealedMemory memory) : memory_(std::move(memory)) {}

  int memory() const { return memory_.descriptor(); }
  SharedRings& rings() const { return *static_cast<SharedRings*>(memory_.data()); }

private:
  SealedMemory memory_;
};

} // namespace fpga_verbs::link
