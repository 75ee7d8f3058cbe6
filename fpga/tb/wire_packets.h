#pragma once

#include "beats.h"

#include "spec/contexts.h"
#include "spec/packet_opcodes.h"
#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/icrc.h"
#include "wire/packet_headers.h"
#include "wire/packet_template.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fpga_verbs::bench {

// A packet of the device model, from its first link byte to its ICRC.
struct WirePacket {
  wire::PacketFraming framing = wire::PacketFraming::ethernet_ipv4;
  bool is_tagged = false;
  uint32_t network = 0; // offset of the IP header or LRH
  uint32_t payload = 0; // offset of the payload
  std::vector<uint8_t> bytes;

  // The packet was built from these.
  wire::PacketTemplate made;
  wire::PacketFields fields;
  uint32_t payload_bytes = 0; // without pad

  // tuser of icrc_append and icrc_check.
  uint8_t user() const { return static_cast<uint8_t>(framing) | static_cast<uint8_t>(is_tagged << 2); }
  uint32_t covered() const { return static_cast<uint32_t>(bytes.size()) - spec::icrc_bytes; }

  // The model's ICRC of the covered bytes.
  uint32_t register_now() {
    return wire::icrc_of_packet(framing, bytes.data() + network, payload - network, covered() - network);
  }
};

// A random address.
inline spec::AddressVector some_address(Random& random) {
  std::array<uint8_t, spec::AddressVector::bytes> bytes{};
  fill(random, bytes);
  spec::AddressVector address;
  std::memcpy(&address, bytes.data(), bytes.size());
  if (random.once(2))
    address.set_vlan(0);
  return address;
}

inline wire::Gid some_gid(Random& random, bool is_ipv4) {
  wire::Gid gid{};
  fill(random, gid);
  return is_ipv4 ? wire::ipv4_gid(static_cast<uint32_t>(random.bits())) : gid;
}

// A packet of random framing, opcode, fields and payload.
inline WirePacket some_packet(Random& random, uint32_t most_payload) {
  const bool is_ipv4 = random.once(2);
  wire::PacketSource source;
  source.link_layer = random.once(3) ? spec::LinkLayer::infiniband : spec::LinkLayer::ethernet;
  fill(random, source.mac);
  source.local_identifier = static_cast<uint16_t>(random.bits());
  source.gid = some_gid(random, is_ipv4);
  source.partition_key = static_cast<uint16_t>(random.bits());
  spec::AddressVector address = some_address(random);
  address.set_destination_gid(some_gid(random, is_ipv4));
  wire::PacketTemplate made =
      wire::make_packet_template(address, source, static_cast<uint32_t>(random.bits()) & 0xffffff,
                                 static_cast<uint32_t>(random.bits()) & 0xffffff);
  wire::PacketFields fields;
  do
    fields.opcode = static_cast<spec::PacketOpcode>(random.below(256));
  while (!spec::traits_of(fields.opcode).is_known);
  fields.solicited_event = random.once(2);
  fields.acknowledge_request = random.once(2);
  fields.packet_sequence_number = static_cast<uint32_t>(random.bits()) & 0xffffff;
  fields.virtual_address = random.bits();
  fields.remote_key = static_cast<uint32_t>(random.bits());
  fields.dma_length = static_cast<uint32_t>(random.bits());
  fields.swap_add = random.bits();
  fields.compare = random.bits();
  fields.original_data = random.bits();
  fields.message_sequence_number = static_cast<uint32_t>(random.bits()) & 0xffffff;
  fields.syndrome = static_cast<uint8_t>(random.bits());
  fields.immediate_data = static_cast<uint32_t>(random.bits());
  fields.queue_key = static_cast<uint32_t>(random.bits());
  fields.source_queue_pair = static_cast<uint32_t>(random.bits()) & 0xffffff;
  const uint32_t payload_bytes =
      spec::traits_of(fields.opcode).has_payload ? random.below(most_payload + 1) : 0;
  std::vector<uint8_t> buffer(spec::packet_headroom + payload_bytes + 16);
  fill(random, buffer);
  uint8_t* const payload = buffer.data() + spec::packet_headroom;
  const std::span<uint8_t> built = wire::build_packet(payload, made, fields, payload_bytes);
  const size_t check_bytes = wire::is_ethernet(made.framing) ? 0 : spec::vcrc_bytes;
  WirePacket packet{.framing = made.framing,
                    .is_tagged = wire::is_ethernet(made.framing) && address.vlan() != 0,
                    .network = made.link_bytes,
                    .payload = static_cast<uint32_t>(payload - built.data()),
                    .bytes = {built.begin(), built.end() - static_cast<ptrdiff_t>(check_bytes)},
                    .made = made,
                    .fields = fields,
                    .payload_bytes = payload_bytes};
  return packet;
}

// A packet that ends at any byte after its headers, which no packet on a wire does.
inline WirePacket some_unpadded_packet(Random& random, uint32_t most_payload) {
  WirePacket packet = some_packet(random, most_payload);
  const uint32_t behind = static_cast<uint32_t>(packet.bytes.size()) - packet.payload;
  packet.bytes.resize(packet.payload + spec::icrc_bytes + random.below(behind + 1 - spec::icrc_bytes));
  wire::write_icrc(packet.bytes.data() + packet.covered(), packet.register_now());
  return packet;
}

} // namespace fpga_verbs::bench
