#pragma once

#include "hca/base/bit_mask.h"
#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/shared_receive_queues.h"
#include "hca/send_queue/queue_reader.h"
#include "spec/commands.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::hca {

// The contents of a receive queue entry. If `refusal` is not `none`, there are no contents: the receive work
// request fails with local_queue_pair_operation_error, the sender gets a NAK remote operational error, and
// the queue pair enters ERR.
struct ReceiveEntry {
  uint64_t capacity = 0; // bytes of the whole scatter list
  uint16_t sequence_number = 0;
  uint8_t scatter_count = 0;
  spec::Refusal refusal = spec::Refusal::none;
  std::array<spec::GatherEntry, spec::gather_entries> scatter{};
};

// Fetches the contents of receive queue entries ahead of the packets that use them. Units of action `send`
// leave with Packet::receive_entry, the place of their entry in the cache, and hold a reference to it; the
// block that ends such a unit calls release(). All other units pass unchanged. The units of each queue pair
// stay in order and wait for no other queue pair: while units refer to every place, only those that need
// another place wait, and they are served in turn.
//
// The block reads an entry when the first packet of its message arrives and keeps it until the unit of the
// last packet has ended; in between it may evict the entry and read it again.
class ReceiveQueueEntryHandler final : public Block, public UnitTaker<spec::ReceiveUnit> {
public:
  static constexpr unsigned places = 32;

  ReceiveQueueEntryHandler(const HcaParameters& parameters, Counters& counters, HostPort& host,
                           PacketMemory& packets, QueuePairStateCache& queue_pairs,
                           const SharedReceiveQueues& shared_receive_queues, MemoryTranslation& translation,
                           EventPort& events, DataLink<spec::ReceiveUnit>& requests_accepted,
                           DataLink<spec::ReceiveUnit>& requests_placed);

  // Gives a place to a waiting unit, takes one unit and passes one on.
  bool step() override;

  // A unit that passes as it is, while none waits here.
  Taken take_at_once(const spec::ReceiveUnit& unit) override;
  TakenTrain take_train(std::span<const spec::ReceiveUnit> train) override;

  const ReceiveEntry& entry(uint8_t place) const { return entries_[place]; }

  // The unit of this packet has ended. No effect if it has no receive entry.
  inline void release(const Packet& packet);

  // Waker for a free place that a queue pair waits for: this block.
  void on_released(Waker waker) { waker_ = waker; }

  // For tests: the number of references to all places, and of places that hold an entry.
  unsigned references() const;
  unsigned places_filled() const;

  // For tests: the first inconsistency, or null.
  const char* verify() const { return queue_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &queue_; }

private:
  static constexpr size_t entries = 256; // all receive packet buffers, and flushes
  static_assert(entries > spec::receive_packet_buffers);

  // The entry in a place: the queue pair's number above the work request's.
  using Key = uint64_t;
  static constexpr Key no_key = ~Key{0};

  inline bool serve_waiting();
  inline bool take_accepted();
  inline bool pass();
  inline bool has_place(const spec::ReceiveUnit& unit);
  [[gnu::noinline]] bool place(const spec::ReceiveUnit& unit, Packet& packet);
  inline std::optional<uint8_t> find(Key key) const;
  inline void forget(uint8_t place);
  inline std::optional<uint8_t> take_place();
  inline std::optional<uint32_t> entry_pages(const spec::ReceiveUnit& unit);
  [[gnu::always_inline]] inline spec::Refusal load(const spec::ReceiveUnit& unit, const Packet& packet,
                                                   ReceiveEntry& entry);

  QueueReader reader_;
  PacketMemory& packets_;
  QueuePairStateCache& queue_pairs_;
  const SharedReceiveQueues& shared_receive_queues_;
  DataLink<spec::ReceiveUnit>& requests_accepted_;
  DataLink<spec::ReceiveUnit>& requests_placed_;

  HardwareLinkedListQueue<spec::ReceiveUnit> queue_; // index: queue pair
  BitMask waiting_{entries}; // lists whose first unit needs a place when there is none
  uint16_t served_ = 0;      // of these the one served last

  std::array<ReceiveEntry, places> entries_{};
  std::array<Key, places> keys_;
  uint32_t filled_ = 0; // places whose key is one
  static_assert(places <= 32);
  std::array<uint8_t, places> references_{};
  BitMask unreferenced_{places, true};
  uint8_t taken_ = places - 1; // the place taken last
  Waker waker_;
};

inline void ReceiveQueueEntryHandler::forget(uint8_t place) {
  keys_[place] = no_key;
  filled_ &= ~(uint32_t{1} << place);
}

inline void ReceiveQueueEntryHandler::release(const Packet& packet) {
  const uint8_t place = packet.receive_entry;
  if (place == no_receive_entry)
    return;
  assert(references_[place] != 0);
  // The last unit of a message ends after all its other units.
  if (packet.last)
    forget(place);
  if (--references_[place] != 0)
    return;
  unreferenced_.set(place);
  if (waiting_.any())
    waker_.wake();
}

} // namespace fpga_verbs::hca
