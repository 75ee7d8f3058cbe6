#pragma once

#include "hca/packet_headers.h"
#include "spec/contexts.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// What a port gives to the packets that leave by it: port_attributes.
class PacketSourcePort {
public:
  virtual ~PacketSourcePort() = default;

  // Addresses of `port` (from 1 on) for a function's entry `gid_index` of its GID table, and the P_Key of
  // entry `partition_key_index`.
  virtual PacketSource packet_source(unsigned underlying_function, unsigned port, unsigned gid_index,
                                     unsigned partition_key_index) const = 0;
};

// The packet templates of connected queue pairs, in a direct-mapped cache. A template is made anew when what
// it was made from has changed: nobody has to say so.
class PacketTemplates {
public:
  explicit PacketTemplates(const PacketSourcePort& sources) : sources_(sources), cache_(cached) {}

  // Packets from this queue pair to its peer. Good until the next call.
  const PacketTemplate& of(uint32_t queue_pair_number, const spec::QueuePairControl& control);

private:
  static constexpr size_t cached = 256;

  struct Entry {
    bool valid = false;
    uint32_t queue_pair_number = 0;
    uint32_t destination_queue_pair = 0;
    spec::AddressVector destination;
    PacketSource source;
    PacketTemplate packet_template;
  };

  const PacketSourcePort& sources_;
  std::vector<Entry> cache_; // by the low bits of the queue pair number
};

} // namespace fpga_verbs::hca
