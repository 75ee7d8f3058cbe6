#pragma once

#include "board/watch_ring.h"
#include "link/sealed_memory.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace fpga_verbs::board {

// The kinds of activity that an observer can watch; each has its own ring.
enum class WatchKind : uint8_t {
  kicks,       // spec::KickRecord
  events,      // WatchedEvent
  packets,     // blocks of a pcapng file; of the whole board
  completions, // spec::CompletionQueueEntry
};
inline constexpr size_t watch_kinds = 4;

// The memory of a ring, which other processes map read-only: a page with its header and a preamble, and its
// words.
class WatchMemory {
public:
  // `preamble`: data that a reader gets before the messages, up to longest_preamble. None: there is no
  // memory, or the kernel cannot make it read-only for others.
  static std::optional<WatchMemory> make(WatchKind kind, std::span<const uint8_t> preamble);
  static constexpr size_t longest_preamble = 3072;
  // Maps the memory of another process.
  static std::optional<WatchMemory> adopt(link::Descriptor descriptor, WatchKind kind);

  WatchRingHeader& header() const { return *static_cast<WatchRingHeader*>(memory_.data()); } // comes first
  WatchWords words() const;
  std::span<const uint8_t> preamble() const;
  int descriptor() const { return memory_.descriptor(); }
  // Releases the memory to the caller.
  link::SealedMemory take() && { return std::move(memory_); }

private:
  explicit WatchMemory(link::SealedMemory memory) : memory_(std::move(memory)) {}

  link::SealedMemory memory_;
};

// An active watch; it ends with this object.
class Watch {
public:
  virtual ~Watch() = default;
  virtual WatchReader& reader() = 0;
  virtual std::span<const uint8_t> preamble() const = 0;
};

} // namespace fpga_verbs::board
