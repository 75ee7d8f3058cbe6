#pragma once

#include "hca/port/port_attributes.h"
#include "spec/contexts.h"
#include "wire/packet_template.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// The packet templates of queue pairs, each to its peer or to the destination of its last datagram, in a
// direct-mapped cache. A template is made anew when its inputs have changed, without a notice.
class PacketTemplates {
public:
  explicit PacketTemplates(const PortAttributes& attributes) : attributes_(attributes), cache_(cached) {}

  // Packets from this queue pair to its peer. Good until the next call.
  const wire::PacketTemplate& of(uint32_t queue_pair_number, const spec::QueuePairControl& control);
  // A datagram from this queue pair to another one. Good until the next call.
  const wire::PacketTemplate& of(uint32_t queue_pair_number, const spec::QueuePairControl& control,
                                 const spec::AddressVector& destination, uint32_t destination_queue_pair);

private:
  static constexpr size_t cached = 256;

  struct Entry {
    bool valid = false;
    uint32_t queue_pair_number = 0;
    uint32_t destination_queue_pair = 0;
    spec::AddressVector destination;
    wire::PacketSource source;
    wire::PacketTemplate packet_template;
  };

  const PortAttributes& attributes_;
  std::vector<Entry> cache_; // by the low bits of the queue pair number
};

} // namespace fpga_verbs::hca
