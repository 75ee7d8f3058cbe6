#pragma once

#include "hca/base/block.h"
#include "link/address.h"
#include "link/packet_buffer.h"
#include "spec/parameters.h"
#include "wire/packet_cause.h"
#include "wire/packet_parse.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::hca {

inline constexpr uint16_t no_packet = 0xffff;
inline constexpr uint8_t no_receive_entry = 0xff;
inline constexpr link::Address not_elsewhere = ~link::Address{0};

// The use of a packet buffer. Each use has its own buffers, so that a response never waits for a buffer of a
// request, and neither waits for arriving packets.
enum class PacketUse : uint8_t { request, response, receive };

// Facts about the packet in a buffer. A field is undefined until the block that creates the packet, or a
// later one, has written it; PacketMemory::allocate() sets those that a block may skip.
struct alignas(64) Packet {
  uint16_t begin = 0;         // offset of its first byte in the buffer
  uint16_t end = 0;           // offset behind its last byte, ICRC (and VCRC) included
  uint16_t payload = 0;       // offset of the payload
  uint16_t payload_bytes = 0; // without pad
  uint8_t port = 0;           // where it arrived, or leaves; from 1
  PacketUse use = PacketUse::request;
  bool is_free = true;
  wire::PacketCause cause{};
  link::Address elsewhere = not_elsewhere; // the port of another board to which it leaves, if to only one

  wire::ParsedPacket parsed{}; // of a packet that has arrived
  uint32_t number = 0;         // of the packet in its message, on the way out

  // For a request that receive has accepted.
  uint32_t answer_psn = 0;              // PSN to answer with; of a READ: of its first response
  uint32_t message_offset = 0;          // of its payload in the message, in bytes
  uint32_t message_length = 0;          // RDMA: of the whole message; SEND: 0
  uint64_t remote_address = 0;          // RDMA, atomics: where the message begins
  uint32_t remote_key = 0;              // RDMA, atomics
  uint32_t message_sequence_number = 0; // MSN to answer with
  uint32_t receive_entry_offset = 0;    // SEND: of the receive entry that it goes into, as in its descriptor
  uint16_t receive_entry_length = 0;    // SEND: of that entry
  uint16_t receive_sequence_number = 0; // receive work request that it takes, or completes
  uint8_t receive_entry = no_receive_entry; // place in receive_queue_entry_handler's cache
  uint8_t syndrome = 0;                     // refuse: AETH syndrome of the NAK
  bool first = false;                       // of its message
  bool last = false;
  bool duplicate = false;
  bool receive_kept = false; // its receive work request was taken by an earlier message, whose end was lost
};

// Packet buffers of a fixed size, each named by a handle. A payload is copied in once, behind the headroom
// for headers, and out once. A packet to a board of the same process takes its buffer along
// (link::Link::hand_over).
class PacketMemory {
public:
  PacketMemory();

  // Allocates the most recently used free buffer for this use; nothing: none is left, and the connected block
  // is woken when one becomes free.
  std::optional<uint16_t> allocate(PacketUse use);
  void release(uint16_t packet);

  // Changes the use of a packet, in exchange for a buffer of the new use, which moves to the old one. False:
  // none is left.
  bool change_use(uint16_t packet, PacketUse use);

  // Wakes the connected block when a buffer of this use becomes free.
  void want(PacketUse use) { wanted_[static_cast<size_t>(use)] = true; }

  uint32_t free(PacketUse use) const { return free_[static_cast<size_t>(use)]; }
  uint32_t used(PacketUse use) const { return buffers_of[static_cast<size_t>(use)] - free(use); }
  Packet& operator[](uint16_t packet) { return packets_[packet]; }
  const Packet& operator[](uint16_t packet) const { return packets_[packet]; }
  link::PacketBuffer& buffer(uint16_t packet) { return memory_[packet]; }
  // That of the packet which allocate() gives next, or after so many others; one must be free.
  link::PacketBuffer& next_free(size_t ahead = 0) {
    assert(free_count_ > ahead);
    return memory_[free_buffers_[free_count_ - 1 - ahead]];
  }
  uint8_t* bytes(uint16_t packet) { return memory_[packet]->bytes.data(); }
  // Sets the location of the packet in its buffer.
  void place(uint16_t packet, std::span<const uint8_t> wire) {
    packets_[packet].begin = static_cast<uint16_t>(wire.data() - bytes(packet));
    packets_[packet].end = static_cast<uint16_t>(packets_[packet].begin + wire.size());
  }
  // The packet in wire format.
  std::span<uint8_t> wire(uint16_t packet) {
    return {bytes(packet) + packets_[packet].begin, bytes(packet) + packets_[packet].end};
  }
  std::span<uint8_t> payload(uint16_t packet) {
    return {bytes(packet) + packets_[packet].payload, packets_[packet].payload_bytes};
  }

  // Waker for a buffer of the use that becomes free when one was missing.
  template <PacketUse use> void on_free(Waker waker) { wakers_[static_cast<size_t>(use)] = waker; }

  // For tests: every buffer is either free or counted once.
  const char* verify() const;
  // The same when no packet is in flight.
  const char* verify_at_rest() const {
    return free_ == buffers_of ? nullptr : "packet_memory: a packet that no block handles has a buffer";
  }

private:
  static constexpr size_t uses = 3;
  static constexpr std::array<uint32_t, uses> buffers_of{
      spec::request_packet_buffers, spec::response_packet_buffers, spec::receive_packet_buffers};
  static constexpr uint32_t buffers = buffers_of[0] + buffers_of[1] + buffers_of[2];

  bool take_credit(PacketUse use);
  void return_credit(PacketUse use);

  std::vector<link::PacketBuffer> memory_ = std::vector<link::PacketBuffer>(buffers);
  std::vector<Packet> packets_ = std::vector<Packet>(buffers);
  std::array<uint16_t, buffers> free_buffers_; // those from free_count_ on are undefined
  uint32_t free_count_ = buffers;
  std::array<uint32_t, uses> free_ = buffers_of;
  std::array<bool, uses> wanted_{};
  std::array<Waker, uses> wakers_;
};

inline bool PacketMemory::take_credit(PacketUse use) {
  const auto index = static_cast<size_t>(use);
  wanted_[index] = free_[index] == 0;
  if (wanted_[index])
    return false;
  --free_[index];
  return true;
}

inline void PacketMemory::return_credit(PacketUse use) {
  const auto index = static_cast<size_t>(use);
  ++free_[index];
  if (!wanted_[index])
    return;
  wanted_[index] = false;
  wakers_[index].wake();
}

inline std::optional<uint16_t> PacketMemory::allocate(PacketUse use) {
  if (!take_credit(use))
    return std::nullopt;
  const uint16_t handle = free_buffers_[--free_count_];
  Packet& packet = packets_[handle];
  packet.use = use;
  packet.is_free = false;
  packet.receive_entry = no_receive_entry;
  packet.duplicate = false;
  packet.receive_kept = false;
  return handle;
}

inline void PacketMemory::release(uint16_t packet) {
  assert(!packets_[packet].is_free);
  packets_[packet].is_free = true;
  free_buffers_[free_count_++] = packet;
  return_credit(packets_[packet].use);
}

} // namespace fpga_verbs::hca
