#include "wire/packet_parse.h"

#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/icrc.h"
#include "wire/known_headers.h"
#include "wire/packet_bytes.h"
#include "wire/packet_checksum.h"
#include "wire/packet_gid.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace fpga_verbs::wire {
namespace {

using spec::PacketDrop;

// After the Ethernet header and its EtherType.
constexpr uint32_t ethernet_bytes = spec::EthernetHeader::bytes - spec::EthernetHeader::padding_width / 8;

// One packet on its way through the checks.
struct Parser {
  uint8_t* packet;
  uint32_t bytes; // of the packet; once a length is known, through its ICRC
  ParsedPacket& parsed;
  uint32_t at = 0;

  bool has(uint32_t more) const { return bytes - at >= more; }

  PacketDrop parse(spec::LinkLayer link_layer) {
    const PacketDrop drop = link_layer == spec::LinkLayer::infiniband ? parse_infiniband() : parse_ethernet();
    return drop == PacketDrop::none ? parse_transport() : drop;
  }

  PacketDrop parse_ethernet() {
    if (!has(ethernet_bytes))
      return PacketDrop::too_short;
    at = ethernet_bytes;
    constexpr uint32_t source_at =
        spec::EthernetHeader::source_byte - spec::EthernetHeader::padding_width / 8;
    std::memcpy(parsed.source_mac.data(), packet + source_at, sizeof parsed.source_mac);
    // The EtherType is the end of each header.
    uint32_t ether_type = ether_type_before(at);
    if (ether_type == static_cast<uint32_t>(spec::EtherType::virtual_lan)) {
      if (!has(spec::VirtualLanHeader::bytes))
        return PacketDrop::too_short;
      at += spec::VirtualLanHeader::bytes;
      ether_type = ether_type_before(at);
    }
    parsed.network_offset = static_cast<uint8_t>(at);
    if (ether_type == static_cast<uint32_t>(spec::EtherType::ipv4))
      return parse_ipv4();
    if (ether_type == static_cast<uint32_t>(spec::EtherType::ipv6))
      return parse_ipv6();
    return PacketDrop::unknown_ether_type;
  }

  uint32_t ether_type_before(uint32_t offset) const {
    return read_header<spec::VirtualLanHeader>(packet + offset - spec::VirtualLanHeader::bytes).ether_type();
  }

  PacketDrop parse_ipv4() {
    if (!has(spec::Ipv4Header::bytes))
      return PacketDrop::too_short;
    const auto ip = read_header<spec::Ipv4Header>(packet + at);
    if (ip.version() != 4 || ip.header_length() != spec::Ipv4Header::bytes / 4)
      return PacketDrop::bad_ip_header;
    if (!sums_to_ones(packet + at, spec::Ipv4Header::bytes))
      return PacketDrop::ip_checksum_mismatch;
    if (ip.more_fragments() != 0 || ip.fragment_offset() != 0)
      return PacketDrop::ip_fragment;
    if (ip.protocol() != static_cast<uint32_t>(spec::IpProtocol::udp))
      return PacketDrop::unknown_ip_protocol;
    // An Ethernet frame may be longer than its content.
    if (!has(ip.total_length()) || ip.total_length() < spec::Ipv4Header::bytes)
      return PacketDrop::length_mismatch;
    bytes = at + ip.total_length();
    at += spec::Ipv4Header::bytes;
    parsed.framing = PacketFraming::ethernet_ipv4;
    parsed.forward_congestion = ip.congestion_notification() == congestion_experienced;
    constexpr uint32_t address_bytes = 2 * spec::Ipv4Header::source_address_width / 8;
    return parse_udp(address_bytes);
  }

  PacketDrop parse_ipv6() {
    if (!has(spec::Ipv6Header::bytes))
      return PacketDrop::too_short;
    const auto ip = read_header<spec::Ipv6Header>(packet + at);
    if (ip.version() != 6)
      return PacketDrop::bad_ip_header;
    if (ip.next_header() != static_cast<uint32_t>(spec::IpProtocol::udp))
      return PacketDrop::unknown_ip_protocol;
    at += spec::Ipv6Header::bytes;
    if (!has(ip.payload_length()))
      return PacketDrop::length_mismatch;
    bytes = at + ip.payload_length();
    parsed.framing = PacketFraming::ethernet_ipv6;
    parsed.forward_congestion = (ip.traffic_class() & congestion_experienced) == congestion_experienced;
    constexpr uint32_t address_bytes = 2 * spec::Ipv6Header::source_address_bytes;
    return parse_udp(address_bytes);
  }

  // `address_bytes`: size of the addresses at the end of the IP header, which the checksum covers.
  PacketDrop parse_udp(uint32_t address_bytes) {
    if (!has(spec::UdpHeader::bytes))
      return PacketDrop::too_short;
    const auto udp = read_header<spec::UdpHeader>(packet + at);
    if (udp.length() != bytes - at)
      return PacketDrop::length_mismatch;
    if (udp.destination_port() != spec::rocev2_udp_port)
      return PacketDrop::wrong_udp_port;
    // 0: the sender did not compute one.
    if (udp.checksum() != 0) {
      const uint64_t sum = internet_sum(packet + at - address_bytes, address_bytes) +
                           static_cast<uint32_t>(spec::IpProtocol::udp) + udp.length() +
                           internet_sum(packet + at, udp.length());
      if (folded(sum) != 0xffff)
        return PacketDrop::udp_checksum_mismatch;
    }
    at += spec::UdpHeader::bytes;
    return PacketDrop::none;
  }

  PacketDrop parse_infiniband() {
    if (!has(spec::LocalRouteHeader::bytes + spec::vcrc_bytes))
      return PacketDrop::too_short;
    bytes -= spec::vcrc_bytes;
    if (!ends_with_vcrc())
      return PacketDrop::vcrc_mismatch;
    const auto route = read_header<spec::LocalRouteHeader>(packet);
    if (route.link_version() != 0)
      return PacketDrop::unknown_link_version;
    if (route.packet_length() * 4 != bytes)
      return PacketDrop::length_mismatch;
    parsed.source_local_identifier = static_cast<uint16_t>(route.source_local_identifier());
    parsed.service_level = static_cast<uint8_t>(route.service_level());
    at = spec::LocalRouteHeader::bytes;
    parsed.framing = PacketFraming::infiniband_local;
    if (route.link_next_header() == static_cast<uint32_t>(spec::LinkNextHeader::global))
      return parse_global_route();
    return route.link_next_header() == static_cast<uint32_t>(spec::LinkNextHeader::local)
               ? PacketDrop::none
               : PacketDrop::raw_packet;
  }

  bool ends_with_vcrc() const {
    std::array<uint8_t, spec::vcrc_bytes> expected;
    write_vcrc(expected.data(), vcrc_update(vcrc_start, packet, bytes));
    return std::ranges::equal(expected, std::span(packet + bytes, spec::vcrc_bytes));
  }

  PacketDrop parse_global_route() {
    if (!has(spec::GlobalRouteHeader::bytes))
      return PacketDrop::too_short;
    const auto route = read_header<spec::GlobalRouteHeader>(packet + at);
    if (route.ip_version() != 6)
      return PacketDrop::bad_global_route_header;
    if (route.next_header() != static_cast<uint32_t>(spec::IpProtocol::infiniband_transport))
      return PacketDrop::unknown_ip_protocol;
    at += spec::GlobalRouteHeader::bytes;
    parsed.framing = PacketFraming::infiniband_global;
    return route.payload_length() == bytes - at ? PacketDrop::none : PacketDrop::length_mismatch;
  }

  PacketDrop parse_transport() {
    if (!has(spec::BaseTransportHeader::bytes + spec::icrc_bytes))
      return PacketDrop::too_short;
    const auto transport = read_header<spec::BaseTransportHeader>(packet + at);
    if (transport.transport_header_version() != 0)
      return PacketDrop::unknown_transport_version;
    parsed.fields.opcode = static_cast<spec::PacketOpcode>(transport.opcode());
    const spec::PacketOpcodeTraits& traits = parsed.traits();
    if (!traits.is_known)
      return PacketDrop::unknown_opcode;
    parsed.transport_offset = static_cast<uint8_t>(at);
    const PacketDrop drop = measure(traits, transport.pad_count());
    if (drop != PacketDrop::none)
      return drop;
#ifndef FPGA_VERBS_MUTANT_ICRC_UNCHECKED
    if (!ends_with_icrc())
      return PacketDrop::icrc_mismatch;
#endif
    take_transport(transport);
    take_extended_headers(traits);
    return PacketDrop::none;
  }

  // Position of the payload, and whether it is valid.
  PacketDrop measure(const spec::PacketOpcodeTraits& traits, uint32_t pad_count) {
    const uint32_t header_bytes = spec::BaseTransportHeader::bytes + traits.extended_bytes;
    if (!has(header_bytes + spec::icrc_bytes))
      return PacketDrop::too_short;
    const uint32_t padded_bytes = bytes - at - header_bytes - spec::icrc_bytes;
    if (padded_bytes % 4 != 0 || pad_count > padded_bytes)
      return PacketDrop::length_mismatch;
    if (padded_bytes != 0 && !traits.has_payload)
      return PacketDrop::unexpected_payload;
    if (padded_bytes - pad_count > spec::packet_payload_bytes)
      return PacketDrop::too_long;
    parsed.payload_offset = static_cast<uint8_t>(at + header_bytes);
    parsed.payload_bytes = static_cast<uint16_t>(padded_bytes - pad_count);
    return PacketDrop::none;
  }

  bool ends_with_icrc() const {
    const uint32_t covered = bytes - spec::icrc_bytes;
    const uint32_t crc =
        icrc_of_packet(parsed.framing, packet + parsed.network_offset,
                       parsed.payload_offset - parsed.network_offset, covered - parsed.network_offset);
    uint32_t sent = 0;
    std::memcpy(&sent, packet + covered, sizeof sent);
    return sent == ~crc;
  }

  void take_transport(const spec::BaseTransportHeader& transport) {
    parsed.partition_key = static_cast<uint16_t>(transport.partition_key());
    parsed.destination_queue_pair = transport.destination_queue_pair();
    parsed.forward_congestion |= transport.forward_congestion() != 0;
    parsed.backward_congestion = transport.backward_congestion() != 0;
    parsed.fields.solicited_event = transport.solicited_event() != 0;
    parsed.fields.acknowledge_request = transport.acknowledge_request() != 0;
    parsed.fields.packet_sequence_number = transport.packet_sequence_number();
    at += spec::BaseTransportHeader::bytes;
  }

  // The next header.
  template <class Header> Header take() {
    const auto header = read_header<Header>(packet + at);
    at += Header::bytes;
    return header;
  }

  void take_extended_headers(const spec::PacketOpcodeTraits& traits) {
    if (traits.extended_headers == 0)
      return;
    PacketFields& fields = parsed.fields;
    if (traits.has(spec::ExtendedHeader::datagram)) {
      const auto datagram = take<spec::DatagramExtendedTransportHeader>();
      fields.queue_key = datagram.queue_key();
      fields.source_queue_pair = datagram.source_queue_pair();
    }
    if (traits.has(spec::ExtendedHeader::rdma)) {
      const auto rdma = take<spec::RdmaExtendedTransportHeader>();
      fields.virtual_address = rdma.virtual_address();
      fields.remote_key = rdma.remote_key();
      fields.dma_length = rdma.dma_length();
    }
    if (traits.has(spec::ExtendedHeader::atomic)) {
      const auto atomic = take<spec::AtomicExtendedTransportHeader>();
      fields.virtual_address = atomic.virtual_address();
      fields.remote_key = atomic.remote_key();
      fields.swap_add = atomic.swap_add();
      fields.compare = atomic.compare();
    }
    if (traits.has(spec::ExtendedHeader::acknowledge)) {
      const auto acknowledge = take<spec::AcknowledgeExtendedTransportHeader>();
      fields.syndrome = static_cast<uint8_t>(acknowledge.syndrome());
      fields.message_sequence_number = acknowledge.message_sequence_number();
    }
    if (traits.has(spec::ExtendedHeader::atomic_acknowledge))
      fields.original_data = take<spec::AtomicAcknowledgeExtendedTransportHeader>().original_data();
    if (traits.has(spec::ExtendedHeader::immediate))
      fields.immediate_data = take<spec::ImmediateExtendedTransportHeader>().immediate_data();
    if (traits.has(spec::ExtendedHeader::invalidate))
      fields.remote_key = take<spec::InvalidateExtendedTransportHeader>().remote_key();
  }

  // ECN (RFC 3168).
  static constexpr uint32_t congestion_experienced = 3;
};

} // namespace

PacketDrop parse_packet(spec::LinkLayer link_layer, uint8_t* packet, uint32_t bytes, ParsedPacket& parsed) {
  // Fields that some packets lack; the parser writes all others, or drops the packet.
  parsed.forward_congestion = false;
  parsed.network_offset = 0;
  parsed.source_local_identifier = 0;
  parsed.service_level = 0;
  parsed.source_mac = {};
  parsed.fields = {};
  return Parser{packet, bytes, parsed}.parse(link_layer);
}

void KnownHeaders::learn(std::span<const uint8_t> packet, unsigned port, const ParsedPacket& parsed) {
  const uint8_t* const transport = packet.data() + parsed.transport_offset;
  const bool is_repeated = std::exchange(last_size_, packet.size()) == packet.size();
  if (!is_repeated || !is_ethernet(parsed.framing) ||
      read_header<spec::UdpHeader>(transport - spec::UdpHeader::bytes).checksum() != 0)
    return;
  [[maybe_unused]] const size_t compared =
      parsed.transport_offset + spec::BaseTransportHeader::acknowledge_request_bit / 8;
  size_ = packet.size();
  port_ = port;
  compared_ = {};
#ifndef FPGA_VERBS_MUTANT_KNOWN_HEADERS_NOT_COMPARED
  std::memset(compared_.data(), 0xff, compared);
#endif
  std::memcpy(headers_.data(), packet.data(), bytes);
  const uint32_t network_bytes = parsed.transport_offset - uint32_t{parsed.network_offset};
  icrc_ = icrc_of_headers(parsed.framing, packet.data() + parsed.network_offset, network_bytes);
  covered_ = parsed.payload_offset - uint32_t{parsed.transport_offset} + parsed.payload_bytes +
             pad_bytes(parsed.payload_bytes);
  parsed_ = parsed;
  parsed_.fields = {.opcode = parsed.fields.opcode, .solicited_event = parsed.fields.solicited_event};
}

PacketDrop parse_known(const KnownHeaders& known, uint8_t* packet, ParsedPacket& parsed) {
  parsed = known.parsed_;
  uint8_t* const transport = packet + parsed.transport_offset;
#ifndef FPGA_VERBS_MUTANT_ICRC_UNCHECKED
  uint32_t sent = 0;
  std::memcpy(&sent, transport + known.covered_, sizeof sent);
  if (sent != ~icrc_of_transport(known.icrc_, transport, known.covered_))
    return PacketDrop::icrc_mismatch;
#endif
  const auto header = read_header<spec::BaseTransportHeader>(transport);
  parsed.fields.acknowledge_request = header.acknowledge_request() != 0;
  parsed.fields.packet_sequence_number = header.packet_sequence_number();
  const uint32_t extended_offset = parsed.transport_offset + spec::BaseTransportHeader::bytes;
  Parser{packet, 0, parsed, extended_offset}.take_extended_headers(parsed.traits());
  return PacketDrop::none;
}

PacketDrop parse_copy(spec::LinkLayer link_layer, std::span<const uint8_t> packet, ParsedPacket& parsed) {
  std::vector<uint8_t> copy(packet.begin(), packet.end());
  return parse_packet(link_layer, copy.data(), static_cast<uint32_t>(copy.size()), parsed);
}

PacketAddresses addresses_of(const uint8_t* packet, const ParsedPacket& parsed) {
  const uint8_t* const network = packet + parsed.network_offset;
  PacketAddresses addresses;
  switch (parsed.framing) {
  case PacketFraming::ethernet_ipv4: {
    const auto ip = read_header<spec::Ipv4Header>(network);
    addresses = {ipv4_gid(ip.source_address()), ipv4_gid(ip.destination_address())};
    break;
  }
  case PacketFraming::ethernet_ipv6: {
    const auto ip = read_header<spec::Ipv6Header>(network);
    std::ranges::copy(ip.source_address(), addresses.source.begin());
    std::ranges::copy(ip.destination_address(), addresses.destination.begin());
    break;
  }
  case PacketFraming::infiniband_global: {
    const auto route = read_header<spec::GlobalRouteHeader>(network + spec::LocalRouteHeader::bytes);
    std::ranges::copy(route.source_gid(), addresses.source.begin());
    std::ranges::copy(route.destination_gid(), addresses.destination.begin());
    break;
  }
  case PacketFraming::infiniband_local:
    break;
  }
  return addresses;
}

} // namespace fpga_verbs::wire
