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
// functions, and one for each other function. The device writes a ring while it is watched; a ring exists
// while an observer keeps it. Its memory and time do not depend on the number of observers. Under the board's
// lock.
class Watches final : public hca::WatchPort {
public:
  // `preamble`: for a new ring. Null: there is no memory for the ring.
  WatchMemory* begin(unsigned underlying_function, WatchKind kind, std::span<const uint8_t> preamble);
  // A watch that has begun keeps its ring without watching it, or watches it again.
  void pause(unsigned underlying_function, WatchKind kind) { --ring(underlying_function, kind).watchers; }
  void resume(unsigned underlying_function, WatchKind kind) { ++ring(underlying_function, kind).watchers; }
  // Ends a watch that is not paused. Returns the memory of a ring that no watch keeps any more.
  std::optional<WatchMemory> end(unsigned underlying_function, WatchKind kind);

  // The functions about which the device must report.
  hca::Watched watched();
  bool watches_packets() const { return ring(0, WatchKind::packets).watchers != 0; }

  void kick_record(const spec::KickRecord& record) override;
  void event(unsigned underlying_function, const spec::EventQueueEntry& event) override;
  void completion(unsigned underlying_function, const spec::CompletionQueueEntry& entry) override;
  // Messages of a kind that were lost before they came here, of a function that is not known.
  void lose(WatchKind kind, uint64_t messages);
  void packet(std::span<const uint8_t> block) { ring(0, WatchKind::packets).put(block); }

private:
  struct Ring {
    std::optional<WatchMemory> memory;
    std::optional<WatchWriter> writer;
    unsigned keepers = 0;  // that began and have not ended
    unsigned watchers = 0; // of them

    template <size_t extent> void put(std::span<const uint8_t, extent> message) {
      if (watchers != 0)
        writer->put(message);
    }
  };

  Ring& ring(unsigned underlying_function, WatchKind kind) {
    return rings_[underlying_function][static_cast<size_t>(kind)];
  }
  const Ring& ring(unsigned underlying_function, WatchKind kind) const {
    return rings_[underlying_function][static_cast<size_t>(kind)];
  }
  uint32_t functions_of(WatchKind kind) const;
  template <class Message>
  void put_to_all(unsigned underlying_function, WatchKind kind, const Message& message);

  std::array<std::array<Ring, watch_kinds>, spec::underlying_functions> rings_;
};

} // namespace fpga_verbs::board
