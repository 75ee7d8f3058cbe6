#pragma once

#include "hca/port/packet_memory.h"
#include "hca/port/port_attributes.h"
#include "spec/contexts.h"
#include "wire/known_headers.h"
#include "wire/packet_template.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// The packet templates of queue pairs, each for its peer or for the destination of its last datagram, in a
// direct-mapped cache, with what is known of the headers of packets from the peer. A template for the peer is
// valid until the queue pair is connected again, which forget() reports, or the port's tables change; a
// datagram's template is rebuilt when its inputs have changed.
class PacketTemplates {
public:
  struct Template : wire::PacketTemplate {
    link::Address elsewhere = not_elsewhere; // as in the Packet
  };

  explicit PacketTemplates(const PortAttributes& attributes) : attributes_(attributes), cache_(cached) {}

  // Packets from this queue pair to its peer. Valid until the next call.
  Template& of(uint32_t queue_pair_number, const spec::QueuePairControl& control) {
    Entry& entry = cache_[queue_pair_number % cached];
    if (entry.connected != queue_pair_number || entry.version != attributes_.version()) [[unlikely]]
      connect(entry, queue_pair_number, control);
    return entry.packet_template;
  }
  // A datagram from this queue pair to another one. Valid until the next call.
  Template& of(uint32_t queue_pair_number, const spec::QueuePairControl& control,
               const spec::AddressVector& destination, uint32_t destination_queue_pair);

  // The known headers of packets from the queue pair's peer, requests or responses, as long as
  // its template is valid. Null: nothing.
  wire::KnownHeaders* known_headers(uint32_t queue_pair_number, bool are_responses) {
    Entry& entry = cache_[queue_pair_number % cached];
    if (entry.connected != queue_pair_number || entry.version != attributes_.version()) [[unlikely]]
      return nullptr;
    return &entry.from_peer[are_responses ? 1 : 0];
  }

  // The queue pair has another peer from now on, or another path to it.
  void forget(uint32_t queue_pair_number) { cache_[queue_pair_number % cached] = {}; }

private:
  static constexpr size_t cached = 256;
  static constexpr uint32_t none = ~uint32_t{0}; // no number of a queue pair

  struct Entry {
    uint32_t connected = none; // whose template to its peer this is
    uint32_t version = 0;      // of the port's tables that it was made from
    // For a datagram.
    uint32_t queue_pair_number = none;
    uint32_t destination_queue_pair = 0;
    spec::AddressVector destination{};
    wire::PacketSource source{};

    Template packet_template{};
    std::array<wire::KnownHeaders, 2> from_peer{}; // of requests, of responses
  };

  void connect(Entry& entry, uint32_t queue_pair_number, const spec::QueuePairControl& control);
  Template template_of(const wire::PacketTemplate& made) const;

  const PortAttributes& attributes_;
  std::vector<Entry> cache_; // by the low bits of the queue pair number
};

} // namespace fpga_verbs::hca
