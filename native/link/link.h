#pragma once

#include "link/address.h"
#include "link/packet_buffer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

// The network behind a port.
namespace fpga_verbs::link {

// The lanes of a link. Each keeps its order and pauses separately, so that a response never waits behind a
// request (InfiniBand volume 1, 7.6, virtual lanes).
enum class Lane : uint8_t { responses, requests };
inline constexpr size_t lanes = 2;

enum class SendResult : uint8_t {
  sent,
  paused,      // the other end has no room; the receiver is notified when it has
  unreachable, // no port on the link has the address
};

// Receives notifications that a packet has arrived on a link, or that a paused link has room again. Called on
// any thread and under locks of others, so an implementation may only record the fact.
class LinkReceiver {
public:
  virtual ~LinkReceiver() = default;
  virtual void notify() = 0;
};

// One end of a link. Only the device that owns the port calls its functions, one at a time, except attach()
// and detach().
class Link {
public:
  virtual ~Link() = default;

  // Accepts packets from now on and notifies `receiver` until detach() returns.
  virtual void attach(LinkReceiver& receiver) = 0;
  virtual void detach() = 0;

  // Sends a packet, from its first link byte to its last check, at most spec::packet_buffer_bytes.
  virtual SendResult send(Lane lane, std::span<const uint8_t> packet) = 0;

  // The same for a packet in `buffer`. The link may pass the buffer on with the packet and replace it by
  // another one.
  virtual SendResult hand_over(Lane lane, PacketBuffer& /*buffer*/, std::span<const uint8_t> packet) {
    return send(lane, packet);
  }

  // join() and leave(): between them the port receives packets that others send to a multicast group, and can
  // send to it. False: the network behind the link cannot join the group.
  virtual bool join(const NetworkAddress&) { return true; }
  virtual void leave(const NetworkAddress&) {}

  // Whether the other end can be reached.
  virtual bool is_connected() { return true; }

  // Sends all queued packets. Called when the device has no more for now.
  virtual void flush() {}

  // The source addresses and UDP source port that the network gives to packets of function 0 at the port;
  // packets must be built with them. Nothing: the network changes no addresses.
  struct Source {
    Address address = 0;
    NetworkAddress network_address{};
    uint16_t udp_port = 0;
  };
  virtual std::optional<Source> source() const { return std::nullopt; }

  // The oldest packet that has arrived, valid until pop(); empty: none.
  virtual std::span<const uint8_t> front(Lane lane) = 0;
  virtual void pop(Lane lane) = 0;

  // Pops the packet that front() returned as `shown`, at most spec::packet_buffer_bytes, into `buffer`, which
  // may become another buffer. Returns the packet's new location.
  virtual std::span<uint8_t> take(Lane lane, std::span<const uint8_t> shown, PacketBuffer& buffer) {
    std::memcpy(buffer->bytes.data(), shown.data(), shown.size());
    pop(lane);
    return {buffer->bytes.data(), shown.size()};
  }

  // Whether front() would return a packet about which the receiver may not have been notified yet. Callers
  // that poll ask links whose notifications are slow.
  virtual bool has_arrived() { return false; }

  // The clock tick at which a packet in flight arrives; no_deadline: none is in flight.
  static constexpr uint64_t no_deadline = ~uint64_t{0};
  virtual uint64_t next_deadline() const { return no_deadline; }
};

} // namespace fpga_verbs::link
