#include "wire/packet_headers.h"

#include "spec/packet_opcodes.h"
#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/icrc.h"
#include "wire/packet_bytes.h"
#include "wire/packet_checksum.h"

#include <cstring>

namespace fpga_verbs::wire {
namespace {

// The lengths below count bytes from the BTH through the ICRC.

void write_udp_length(uint8_t* at, uint32_t bytes) {
  auto udp = read_header<spec::UdpHeader>(at);
  udp.set_length(spec::UdpHeader::bytes + bytes);
  write_header(at, udp);
}

void write_ipv4_length(uint8_t* at, uint32_t checksum_sum, uint32_t bytes) {
  auto ip = read_header<spec::Ipv4Header>(at);
  const uint32_t total = spec::Ipv4Header::bytes + spec::UdpHeader::bytes + bytes;
  ip.set_total_length(total);
  ip.set_header_checksum(~folded(checksum_sum + total));
  write_header(at, ip);
}

void write_ipv6_length(uint8_t* at, uint32_t bytes) {
  auto ip = read_header<spec::Ipv6Header>(at);
  ip.set_payload_length(spec::UdpHeader::bytes + bytes);
  write_header(at, ip);
}

void write_local_route_length(uint8_t* at, uint32_t bytes) {
  auto route = read_header<spec::LocalRouteHeader>(at);
  route.set_packet_length(bytes / 4);
  write_header(at, route);
}

void write_global_route_length(uint8_t* at, uint32_t bytes) {
  auto route = read_header<spec::GlobalRouteHeader>(at);
  route.set_payload_length(bytes);
  write_header(at, route);
}

// `transport`: offset of the BTH.
void write_lengths(uint8_t* transport, const PacketTemplate& packet_template, uint32_t bytes) {
  uint8_t* const udp = transport - spec::UdpHeader::bytes;
  uint8_t* const global_route = transport - spec::GlobalRouteHeader::bytes;
  switch (packet_template.framing) {
  case PacketFraming::ethernet_ipv4:
    write_udp_length(udp, bytes);
    write_ipv4_length(udp - spec::Ipv4Header::bytes, packet_template.ipv4_checksum_sum, bytes);
    return;
  case PacketFraming::ethernet_ipv6:
    write_udp_length(udp, bytes);
    write_ipv6_length(udp - spec::Ipv6Header::bytes, bytes);
    return;
  case PacketFraming::infiniband_local:
    write_local_route_length(transport - spec::LocalRouteHeader::bytes,
                             spec::LocalRouteHeader::bytes + bytes);
    return;
  case PacketFraming::infiniband_global:
    write_global_route_length(global_route, bytes);
    write_local_route_length(global_route - spec::LocalRouteHeader::bytes,
                             spec::LocalRouteHeader::bytes + spec::GlobalRouteHeader::bytes + bytes);
    return;
  }
}

// In the header of the template, these fields are 0.
void write_transport(uint8_t* at, const PacketFields& fields, uint32_t payload_bytes) {
  spec::BaseTransportHeader own;
  own.set_opcode(static_cast<uint32_t>(fields.opcode));
  own.set_solicited_event(fields.solicited_event);
  own.set_backward_congestion(fields.opcode == spec::PacketOpcode::congestion_notification);
  own.set_pad_count(pad_bytes(payload_bytes));
  own.set_acknowledge_request(fields.acknowledge_request);
  own.set_packet_sequence_number(fields.packet_sequence_number);
  auto transport = read_header<spec::BaseTransportHeader>(at);
  for (size_t i = 0; i < transport.dwords.size(); ++i)
    transport.dwords[i] |= own.dwords[i];
  write_header(at, transport);
}

// Stores one header and advances past it.
template <class Header> void append(uint8_t*& at, const Header& header) {
  write_header(at, header);
  at += Header::bytes;
}

void write_extended_headers(uint8_t* at, const spec::PacketOpcodeTraits& traits, const PacketFields& fields) {
  if (traits.extended_headers == 0)
    return;
  if (traits.has(spec::ExtendedHeader::datagram)) {
    spec::DatagramExtendedTransportHeader datagram;
    datagram.set_queue_key(fields.queue_key);
    datagram.set_source_queue_pair(fields.source_queue_pair);
    append(at, datagram);
  }
  if (traits.has(spec::ExtendedHeader::rdma)) {
    spec::RdmaExtendedTransportHeader rdma;
    rdma.set_virtual_address(fields.virtual_address);
    rdma.set_remote_key(fields.remote_key);
    rdma.set_dma_length(fields.dma_length);
    append(at, rdma);
  }
  if (traits.has(spec::ExtendedHeader::atomic)) {
    spec::AtomicExtendedTransportHeader atomic;
    atomic.set_virtual_address(fields.virtual_address);
    atomic.set_remote_key(fields.remote_key);
    atomic.set_swap_add(fields.swap_add);
    atomic.set_compare(fields.compare);
    append(at, atomic);
  }
  if (traits.has(spec::ExtendedHeader::acknowledge)) {
    spec::AcknowledgeExtendedTransportHeader acknowledge;
    acknowledge.set_syndrome(fields.syndrome);
    acknowledge.set_message_sequence_number(fields.message_sequence_number);
    append(at, acknowledge);
  }
  if (traits.has(spec::ExtendedHeader::atomic_acknowledge)) {
    spec::AtomicAcknowledgeExtendedTransportHeader acknowledge;
    acknowledge.set_original_data(fields.original_data);
    append(at, acknowledge);
  }
  if (traits.has(spec::ExtendedHeader::immediate)) {
    spec::ImmediateExtendedTransportHeader immediate;
    immediate.set_immediate_data(fields.immediate_data);
    append(at, immediate);
  }
  if (traits.has(spec::ExtendedHeader::invalidate)) {
    spec::InvalidateExtendedTransportHeader invalidate;
    invalidate.set_remote_key(fields.remote_key);
    append(at, invalidate);
  }
}

// Sets the headers for packets of this length.
void fit(PacketTemplate::Headers& headers, const PacketTemplate& packet_template, uint32_t transport_bytes) {
  const uint32_t link_bytes = packet_template.link_bytes;
  const uint32_t network_bytes = packet_template.size - link_bytes - spec::BaseTransportHeader::bytes;
  uint8_t* const transport = headers.wire.data() + PacketTemplate::bytes - spec::BaseTransportHeader::bytes;
  write_lengths(transport, packet_template, transport_bytes);
  headers.icrc = icrc_of_headers(packet_template.framing, transport - network_bytes, network_bytes);
  headers.transport_bytes = transport_bytes;
}

} // namespace

std::span<uint8_t> build_packet(uint8_t* payload, PacketTemplate& packet_template, const PacketFields& fields,
                                uint32_t payload_bytes) {
  const spec::PacketOpcodeTraits& traits = spec::traits_of(fields.opcode);
  const uint32_t covered = spec::BaseTransportHeader::bytes + traits.extended_bytes + payload_bytes +
                           pad_bytes(payload_bytes); // by the ICRC, from the BTH on
  PacketTemplate::Headers& headers =
      traits.is_response() ? packet_template.response : packet_template.request;
  if (headers.transport_bytes != covered + spec::icrc_bytes)
    fit(headers, packet_template, covered + spec::icrc_bytes);
  uint8_t* const extended = payload - traits.extended_bytes;
  uint8_t* const transport = extended - spec::BaseTransportHeader::bytes;
  // Copies all of it, whatever the size of the headers: a copy of fixed size takes a few instructions.
  std::memcpy(extended - PacketTemplate::bytes, headers.wire.data(), PacketTemplate::bytes);
  write_transport(transport, fields, payload_bytes);
  write_extended_headers(extended, traits, fields);
  // The pad, and the place of the ICRC.
  std::memset(payload + payload_bytes, 0, spec::icrc_bytes);
  uint8_t* end = transport + covered;
  write_icrc(end, icrc_of_transport(headers.icrc, transport, covered));
  end += spec::icrc_bytes;
  uint8_t* const begin = extended - packet_template.size;
  if (!is_ethernet(packet_template.framing)) {
    write_vcrc(end, vcrc_update(vcrc_start, begin, static_cast<size_t>(end - begin)));
    end += spec::vcrc_bytes;
  }
  return {begin, end};
}

} // namespace fpga_verbs::wire
