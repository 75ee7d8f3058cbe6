#pragma once

#include "link/address.h"
#include "link/packet_buffer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

// The network that a port is attached to.
namespace fpga_verbs::link {

// The lanes of a link, each in order and paused on its own, so that an answer never waits behind a request
// (InfiniBand volume 1, 7.6, virtual lanes).
enum class Lane : uint8_t { responses, requests };
inline constexpr size_t lanes = 2;

enum class SendResult : uint8_t {
  sent,
  paused,      // the other end has no room; the receiver is notified when it has
  unreachable, // no port on the link has the address
};

// A receiver is told that a packet has arrived on a link, or that a paused one has room again. Called on any
// thread and under the locks of others: it takes note, and does nothing else.
class LinkReceiver {
public:
  virtual ~LinkReceiver() = default;
  virtual void notify() = 0;
};

// One end of a link. All but attach() and detach() are called by the device whose port it is, one call at a
// time.
class Link {
public:
  virtual ~Link() = default;

  // Packets are accepted from now on, and `receiver` is notified until detach() returns.
  virtual void attach(LinkReceiver& receiver) = 0;
  virtual void detach() = 0;

  // Puts a packet on the link, from its first link byte to its last check, at most spec::packet_buffer_bytes.
  virtual SendResult send(Lane lane, std::span<const uint8_t> packet) = 0;

  // The same of a packet that lies in `buffer`. One that is sent may be handed over as it is: then the buffer
  // is another.
  virtual SendResult hand_over(Lane lane, PacketBuffer& /*buffer*/, std::span<const uint8_t> packet) {
    return send(lane, packet);
  }

  // Between them packets that others send to a multicast group arrive too, and packets can be sent to it.
  // False: the network behind the link does not have the group.
  virtual bool join(const NetworkAddress&) { return true; }
  virtual void leave(const NetworkAddress&) {}

  // Whether anybody can be at its other end.
  virtual bool is_connected() { return true; }

  // The packets that were put on the link until now leave it. Called when the device has no more for now.
  virtual void flush() {}

  // Addresses and UDP source port that its network gives packets, with which they have to be built: of
  // function 0 at the port. Nothing: it leaves them as they are.
  struct Source {
    Address address = 0;
    NetworkAddress network_address{};
    uint16_t udp_port = 0;
  };
  virtual std::optional<Source> source() const { return std::nullopt; }

  // The oldest packet that has arrived, good until pop(); empty: none.
  virtual std::span<const uint8_t> front(Lane lane) = 0;
  virtual void pop(Lane lane) = 0;

  // Pops the packet that front() shows as `shown`, at most spec::packet_buffer_bytes: gives where it lies in
  // `buffer` from then on, which may be another buffer than before.
  virtual std::span<uint8_t> take(Lane lane, std::span<const uint8_t> shown, PacketBuffer& buffer) {
    std::memcpy(buffer->bytes.data(), shown.data(), shown.size());
    pop(lane);
    return {buffer->bytes.data(), shown.size()};
  }

  // Whether front() would show a packet of which the receiver may not have been notified yet: links whose
  // notifications take a while are asked by who polls.
  virtual bool has_arrived() { return false; }

  // The clock tick at which a packet that is on its way will be there; no_deadline: none is.
  static constexpr uint64_t no_deadline = ~uint64_t{0};
  virtual uint64_t next_deadline() const { return no_deadline; }
};

} // namespace fpga_verbs::link
