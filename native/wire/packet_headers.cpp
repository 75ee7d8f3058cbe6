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

// The lengths below count in bytes from the BTH through the ICRC.

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

void write_transport(uint8_t* at, const PacketFields& fields, uint32_t payload_bytes) {
  auto transport = read_header<spec::BaseTransportHeader>(at);
  transport.set_opcode(static_cast<uint32_t>(fields.opcode));
  transport.set_solicited_event(fields.solicited_event);
  transport.set_backward_congestion(fields.opcode == spec::PacketOpcode::congestion_notification);
  transport.set_pad_count(pad_bytes(payload_bytes));
  transport.set_acknowledge_request(fields.acknowledge_request);
  transport.set_packet_sequence_number(fields.packet_sequence_number);
  write_header(at, transport);
}

// Puts one header, and goes on behind it.
template <class Header> void append(uint8_t*& at, const Header& header) {
  write_header(at, header);
  at += Header::bytes;
}

void write_extended_headers(uint8_t* at, const spec::PacketOpcodeTraits& traits, const PacketFields& fields) {
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

} // namespace

uint32_t write_packet_headers(uint8_t* payload, const PacketTemplate& packet_template,
                              const PacketFields& fields, uint32_t payload_bytes) {
  const spec::PacketOpcodeTraits& traits = spec::traits_of(fields.opcode);
  uint8_t* const extended = payload - traits.extended_bytes;
  uint8_t* const transport = extended - spec::BaseTransportHeader::bytes;
  // All of it, whatever its headers' size: a copy of fixed size is a few instructions.
  std::memcpy(extended - PacketTemplate::bytes, packet_template.headers.data(), PacketTemplate::bytes);
  write_lengths(transport, packet_template,
                spec::BaseTransportHeader::bytes + traits.extended_bytes + payload_bytes +
                    pad_bytes(payload_bytes) + spec::icrc_bytes);
  write_transport(transport, fields, payload_bytes);
  write_extended_headers(extended, traits, fields);
  return packet_template.size + traits.extended_bytes;
}

uint32_t icrc_of_packet_headers(const uint8_t* payload, const PacketTemplate& packet_template,
                                uint32_t header_bytes) {
  const uint32_t network_bytes = header_bytes - packet_template.link_bytes;
  return icrc_of_headers(packet_template.framing, payload - network_bytes, network_bytes);
}

std::span<uint8_t> write_packet_trailer(uint8_t* payload, const PacketTemplate& packet_template,
                                        uint32_t header_bytes, uint32_t payload_bytes, uint32_t icrc) {
  uint8_t* end = payload + payload_bytes;
  const uint32_t pad = pad_bytes(payload_bytes);
  std::memset(end, 0, pad);
  write_icrc(end + pad, icrc_update(icrc, end, pad));
  end += pad + spec::icrc_bytes;
  uint8_t* const begin = payload - header_bytes;
  if (!is_ethernet(packet_template.framing)) {
    write_vcrc(end, vcrc_update(vcrc_start, begin, static_cast<size_t>(end - begin)));
    end += spec::vcrc_bytes;
  }
  return {begin, end};
}

std::span<uint8_t> build_packet(uint8_t* payload, const PacketTemplate& packet_template,
                                const PacketFields& fields, uint32_t payload_bytes) {
  const uint32_t header_bytes = write_packet_headers(payload, packet_template, fields, payload_bytes);
  const uint32_t icrc = icrc_of_packet_headers(payload, packet_template, header_bytes);
  return write_packet_trailer(payload, packet_template, header_bytes, payload_bytes,
                              icrc_update(icrc, payload, payload_bytes));
}

} // namespace fpga_verbs::wire
