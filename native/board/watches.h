#pragma once

#include "board/watch_memory.h"
#include "hca/base/watch_port.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace fpga_verbs::board {

// An asynchronous event as observers get it.
struct WatchedEvent {
  spec::EventQueueEntry entry;
  uint32_t underlying_function = 0;
  uint32_t padding = 0;
};

// The rings of a board that observers read: for each kind, one for the control function, which covers all
// functions, and one for each other function. A ring exists only while it is watched; its memory and time do
// not depend on the number of observers. Under the board's lock.
class Watches final : public hca::WatchPort {
public:
  // `preamble`: for a new ring. Null: there is no memory for the ring.
  WatchMemory* begin(unsigned underlying_function, WatchKind kind, std::span<const uint8_t> preamble);
  // Returns the memory of a ring that is not watched any more.
  std::optional<WatchMemory> end(unsigned underlying_function, WatchKind kind);

  // The functions about which the device must report.
  hca::Watched watched();
  bool watches_packets() const { return ring(0, WatchKind::packets).watchers != 0; }

  void kick_record(const spec::KickRecord& record) override;
  void event(unsigned underlying_function, const spec::EventQueueEntry& event) override;
  void completion(unsigned underlying_function, const spec::CompletionQueueEntry& entry) override;
  void packet(std::span<const uint8_t> block) { put(0, WatchKind::packets, block); }

private:
  struct Ring {
    std::optional<WatchMemory> memory;
    std::optional<WatchWriter> writer;
    unsigned watchers = 0;
  };

  Ring& ring(unsigned underlying_function, WatchKind kind) {
    return rings_[underlying_function][static_cast<size_t>(kind)];
  }
  const Ring& ring(unsigned underlying_function, WatchKind kind) const {
    return rings_[underlying_function][static_cast<size_t>(kind)];
  }
  uint32_t functions_of(WatchKind kind) const;
  void put(unsigned underlying_function, WatchKind kind, std::span<const uint8_t> message);
  void put_to_all(unsigned underlying_function, WatchKind kind, std::span<const uint8_t> message);

  std::array<std::array<Ring, watch_kinds>, spec::underlying_functions> rings_;
};

} // namespace fpga_verbs::board
