#pragma once

#include "spec/contexts.h"
#include "spec/enums.h"
#include "wire/packet_framing.h"
#include "wire/packet_gid.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::wire {

using MacAddress = std::array<uint8_t, 6>;

// Fields that a packet takes from its port and the port's tables.
struct PacketSource {
  spec::LinkLayer link_layer = spec::LinkLayer::ethernet;
  MacAddress mac{};
  uint16_t local_identifier = 0; // to which the path bits are added
  Gid gid{};                     // ::ffff:a.b.c.d on Ethernet: IPv4
  uint16_t partition_key = 0xffff;
  uint16_t udp_source_port = 0; // that the link sends from; 0: any

  bool operator==(const PacketSource&) const = default;
};

// The bytes that all packets from one queue pair to another share: everything in front of the extended
// headers except opcode, flags and PSN. For the lengths of the last request and the last response, which the
// next packet mostly has too, it also holds lengths, IPv4 checksum, and the initial ICRC register. Built once
// per connected queue pair, or per datagram.
struct PacketTemplate {
  // Ethernet with 802.1Q tag, IPv6, UDP and BTH, and the padding of the spec's Ethernet header.
  static constexpr unsigned bytes = 80;

  // The headers of packets of one length.
  struct Headers {
    alignas(16) std::array<uint8_t, bytes> wire{}; // at its end
    uint32_t transport_bytes = 0; // from the BTH through the ICRC; 0: no length is in them yet
    uint32_t icrc = 0;            // the register after what is before the BTH
  };

  Headers request;
  Headers response;
  PacketFraming framing = PacketFraming::ethernet_ipv4;
  uint8_t link_bytes = 0; // of Ethernet header and tag; 0 for InfiniBand, whose ICRC begins with the LRH
  uint8_t size = 0;       // of all headers through the BTH
  uint32_t ipv4_checksum_sum = 0; // the IPv4 header's 16-bit words without its length
};

// Builds the template of packets to `destination` from queue pair `source_queue_pair` to
// `destination_queue_pair`. On Ethernet it always uses the address vector's GID, whatever is_global says.
// Without a UDP source port it derives one in C000h to FFFFh from a hash of both numbers (annex A17), unless
// the source has one. With VLAN 0 there is no tag.
PacketTemplate make_packet_template(const spec::AddressVector& destination, const PacketSource& source,
                                    uint32_t source_queue_pair, uint32_t destination_queue_pair);

} // namespace fpga_verbs::wire
