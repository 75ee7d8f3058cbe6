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
constexpr Lane other(Lane lane) { return lane == Lane::responses ? Lane::requests : Lane::responses; }

inline constexpr unsigned every_lane = 0b11; // a bit for each

enum class SendResult : uint8_t {
  sent,
  paused,      // the other end has no room; the receiver is notified when it has
  unreachable, // no port on the link has the address
};

// A packet on its way out, in a buffer. Trivial, so that the places of a train cost nothing.
struct Outgoing {
  PacketBuffer* buffer;
  uint8_t* begin;
  size_t bytes;

  std::span<uint8_t> packet() const { return {begin, bytes}; }
};

// A buffer for a packet of a train that arrives, and the packet in it.
struct Incoming {
  PacketBuffer* buffer;
  std::span<uint8_t> packet;
};

// How many packets of a train a link has taken, and what became of the next one; sent: there was none.
struct Sent {
  size_t packets = 0;
  SendResult result = SendResult::sent;
  bool may_wait = true; // packets may wait on the link until flush()
};

// The next packet of a link.
struct Arrival {
  std::span<uint8_t> packet; // empty: there is none that may come, or it was too long
  Lane lane = Lane::responses;
  bool is_too_long = false; // the packet was: it is gone
  bool more = false;        // there are others, on any lane
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
  // `has_deadlines`: next_deadline() may return one.
  explicit Link(bool has_deadlines = false) : has_deadlines_(has_deadlines) {}
  virtual ~Link() = default;

  // Accepts packets from now on and notifies `receiver` until detach() returns.
  virtual void attach(LinkReceiver& receiver) = 0;
  virtual void detach() = 0;

  // Sends a packet, from its first link byte to its last check, at most spec::packet_buffer_bytes.
  virtual SendResult send(Lane lane, std::span<const uint8_t> packet) = 0;

  // The same for a train of packets to one destination, which is no group, at least one, in order, up to the
  // first that is not sent. The link may pass each buffer on with its packet and replace it by another one.
  virtual Sent hand_over(Lane lane, Address /*destination*/, std::span<const Outgoing> train) {
    Sent sent;
    for (; sent.packets != train.size(); ++sent.packets) {
      sent.result = send(lane, train[sent.packets].packet());
      if (sent.result != SendResult::sent)
        break;
    }
    return sent;
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

  // Pops the oldest packet of lane `first`, else of the other one, into `buffer`, which may become another
  // buffer. Only lanes whose bit is set in `open` are looked at. A packet of more than
  // spec::packet_buffer_bytes is dropped.
  virtual Arrival take(Lane first, unsigned open, PacketBuffer& buffer) {
    Arrival arrival;
    for (const Lane lane : {first, other(first)}) {
      const std::span<const uint8_t> shown =
          (open >> static_cast<unsigned>(lane) & 1) != 0 ? front(lane) : std::span<const uint8_t>{};
      if (shown.empty())
        continue;
      arrival.lane = lane;
      arrival.is_too_long = shown.size() > buffer->bytes.size();
      if (!arrival.is_too_long) {
        std::memcpy(buffer->bytes.data(), shown.data(), shown.size());
        arrival.packet = {buffer->bytes.data(), shown.size()};
      }
      pop(lane);
      break;
    }
    arrival.more = !front(Lane::responses).empty() || !front(Lane::requests).empty();
    return arrival;
  }

  // The same for a train of packets of one lane, at most as many as there are buffers, while none is on the
  // other lane: a link may pass them at less cost than one by one. Returns their number, which may be 0.
  virtual size_t take_train(Lane, std::span<Incoming>, bool& /*more*/) { return 0; }

  // Whether front() would return a packet about which the receiver may not have been notified yet. Callers
  // that poll ask links whose notifications are slow.
  virtual bool has_arrived() { return false; }

  // The clock tick at which a packet in flight arrives; no_deadline: none is in flight.
  static constexpr uint64_t no_deadline = ~uint64_t{0};
  virtual uint64_t next_deadline() const { return no_deadline; }
  bool has_deadlines() const { return has_deadlines_; }

private:
  bool has_deadlines_;
};

} // namespace fpga_verbs::link
