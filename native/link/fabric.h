#pragma once

#include "link/address.h"
#include "link/link.h"
#include "link/short_lock.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace fpga_verbs::link {

class Fabric;

// A port of a fabric: an inbox for each lane. Any other port of the fabric fills it, and the board that owns
// the port empties it. The fabric notifies a sender that found it full when it has room.
class FabricPort final : public Link {
public:
  // Capacity of an inbox in packets.
  static constexpr size_t inbox_packets = 64;

  FabricPort(Fabric& fabric, unsigned number) : fabric_(fabric), number_(number) {}

  void attach(LinkReceiver& receiver) override;
  void detach() override;
  SendResult send(Lane lane, std::span<const uint8_t> packet) override;
  std::span<const uint8_t> front(Lane lane) override;
  void pop(Lane lane) override;
  // Passes packets with their buffers, in exchange for empty buffers, and notifies once.
  Sent hand_over(Lane lane, Address destination, std::span<const Outgoing> train) override;
  Arrival take(Lane first, unsigned open, PacketBuffer& buffer) override;
  size_t take_train(Lane lane, std::span<Incoming> train, bool& more) override;

private:
  friend class Fabric;

  struct Slot {
    PacketBuffer buffer = make_packet_buffer();
    std::span<uint8_t> packet; // in the buffer
  };
  // One sender at a time fills it, under the lock; the owner empties it.
  struct Inbox {
    std::unique_ptr<Slot[]> slots;
    alignas(64) std::atomic<size_t> tail{0};
    alignas(64) std::atomic<size_t> head{0};
    std::atomic<uint64_t> waiting{0}; // ports that found it full, a bit each

    Slot& front() const { return slots[head.load(std::memory_order_relaxed) % inbox_packets]; }
    bool empty() const {
      return head.load(std::memory_order_relaxed) == tail.load(std::memory_order_acquire);
    }
  };

  Inbox& inbox(Lane lane) { return inboxes_[static_cast<size_t>(lane)]; }

  // `put(slot, i)` writes packet i of `count` to a slot.
  template <class Put> Sent receive(Lane lane, unsigned from, size_t count, Put put);
  SendResult receive_copy(Lane lane, std::span<const uint8_t> packet, unsigned from);
  void notify();
  inline void pop_front(Inbox& inbox, size_t packets = 1);
  void notify_waiting(Inbox& inbox);

  Fabric& fabric_;
  unsigned number_;
  spec::LinkLayer link_layer_ = spec::LinkLayer::ethernet;
  ShortLock lock_;
  LinkReceiver* receiver_ = nullptr; // under the lock
  std::array<Inbox, lanes> inboxes_;
};

// Connects ports of boards in one process: a switch that knows the addresses of each port from the start and
// loses nothing. Thread-safe.
class Fabric {
public:
  static constexpr unsigned ports = 64;

  Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Allocates a port for addresses_per_port addresses from `first` on; null: all are in use. The caller owns
  // it until give_back(), and at most as long as the fabric exists.
  FabricPort* take(spec::LinkLayer link_layer, Address first);
  void give_back(FabricPort& port);

private:
  friend class FabricPort;

  static constexpr Address no_address = ~Address{0} - addresses_per_port;

  FabricPort* find(Address key);
  // Sends to all ports of the sender's link layer except the sender; a port without room loses the packet.
  SendResult send_to_all(const FabricPort& from, Lane lane, std::span<const uint8_t> packet);

  std::mutex mutex_;                                  // of what follows, but for finding
  std::atomic<unsigned> used_{0};                     // ports that were ever taken
  std::array<std::atomic<Address>, ports> first_key_; // of each port: link layer and first address
  std::array<std::unique_ptr<FabricPort>, ports> ports_;
};

} // namespace fpga_verbs::link
