#include "link/neighbor_messages.h"

#include "link/ethernet_frame.h"
#include "wire/packet_bytes.h"
#include "wire/packet_checksum.h"
#include "wire/packet_gid.h"

#include <algorithm>
#include <array>

namespace fpga_verbs::link {

namespace {

using spec::AddressResolutionMessage;
using spec::AddressResolutionOperation;
using spec::Ipv6Header;
using spec::NeighborMessageType;
using spec::NeighborOptionType;
using wire::read_header;
using wire::write_header;

constexpr MacAddress all_macs{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
constexpr NetworkAddress unspecified{};
constexpr NetworkAddress all_nodes{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr uint32_t hardware_ethernet = 1;
constexpr uint32_t on_this_wire = 255; // hop limit: no router has passed it on (RFC 4861, 7.1)
constexpr auto icmpv6 = static_cast<uint32_t>(spec::IpProtocol::icmpv6);
constexpr auto protocol_ipv4 = static_cast<uint32_t>(spec::EtherType::ipv4);
constexpr size_t ipv4_bytes = AddressResolutionMessage::sender_address_bytes;
constexpr size_t neighbor_bytes = spec::NeighborMessage::bytes;
constexpr size_t option_at = spec::NeighborMessage::option_type_bit / 8;

template <class To, class From> To copy_of(const From& from) {
  To to;
  std::ranges::copy(from, to.begin());
  return to;
}

std::span<const uint8_t, ipv4_bytes> ipv4_of(const NetworkAddress& address) {
  return std::span(address).last<ipv4_bytes>();
}

NetworkAddress mapped(std::span<const uint8_t, ipv4_bytes> address) {
  NetworkAddress made = ipv4_address(0);
  std::ranges::copy(address, made.end() - ipv4_bytes);
  return made;
}

// Solicited-node group of an address (RFC 4291, 2.7.1).
NetworkAddress solicited_group(const NetworkAddress& address) {
  NetworkAddress group{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff};
  std::copy(address.end() - 3, address.end(), group.end() - 3);
  return group;
}

// MAC address of a group (RFC 2464, 7).
MacAddress group_mac(const NetworkAddress& group) {
  return {0x33, 0x33, group[12], group[13], group[14], group[15]};
}

// Sum over the message and, from its IPv6 header, the addresses, the length and the protocol (RFC 8200, 8.1).
// The checksum of ICMPv6 is its inverse.
uint32_t icmp_sum(const Ipv6Header& ip, const uint8_t* message) {
  return wire::folded(wire::internet_sum(ip.source_address().data(), ip.source_address_bytes) +
                      wire::internet_sum(ip.destination_address().data(), ip.destination_address_bytes) +
                      ip.payload_length() + icmpv6 + wire::internet_sum(message, ip.payload_length()));
}

std::optional<NeighborMessage> read_address_resolution(std::span<const uint8_t> packet) {
  if (packet.size() < AddressResolutionMessage::bytes)
    return std::nullopt;
  const auto message = read_header<AddressResolutionMessage>(packet.data());
  if (message.hardware_type() != hardware_ethernet || message.protocol_type() != protocol_ipv4 ||
      message.hardware_length() != message.sender_mac_bytes || message.protocol_length() != ipv4_bytes)
    return std::nullopt;
  NeighborMessage read{.sender = Neighbor{.address = mapped(message.sender_address()),
                                          .mac = copy_of<MacAddress>(message.sender_mac())},
                       .question = std::nullopt};
  if (message.operation() == AddressResolutionOperation::request)
    read.question = mapped(message.target_address());
  return read;
}

std::optional<NeighborMessage> read_discovery(std::span<const uint8_t> packet) {
  if (packet.size() < Ipv6Header::bytes + option_at)
    return std::nullopt;
  const auto ip = read_header<Ipv6Header>(packet.data());
  const size_t bytes = ip.payload_length();
  const auto body = packet.subspan(Ipv6Header::bytes);
  if (ip.next_header() != icmpv6 || ip.hop_limit() != on_this_wire || bytes < option_at ||
      bytes > body.size() || icmp_sum(ip, body.data()) != 0xffff)
    return std::nullopt;
  std::array<uint8_t, neighbor_bytes> padded{};
  std::copy_n(body.begin(), std::min(bytes, padded.size()), padded.begin());
  const auto message = read_header<spec::NeighborMessage>(padded.data());
  const bool is_question = message.type() == NeighborMessageType::solicitation;
  if (message.code() != 0 || (!is_question && message.type() != NeighborMessageType::advertisement))
    return std::nullopt;
  const auto target = copy_of<NetworkAddress>(message.target_address());
  if (wire::is_ipv4(target)) // is asked for by ARP
    return std::nullopt;
  NeighborMessage read;
  const auto told = is_question ? NeighborOptionType::source_link_layer_address
                                : NeighborOptionType::target_link_layer_address;
  if (message.option_type() == told && message.option_length() == 1)
    read.sender = Neighbor{.address = is_question ? copy_of<NetworkAddress>(ip.source_address()) : target,
                           .mac = copy_of<MacAddress>(message.mac())};
  if (is_question)
    read.question = target;
  return read;
}

std::vector<uint8_t> address_resolution(AddressResolutionOperation operation, const Neighbor& own,
                                        const Neighbor& to) {
  AddressResolutionMessage message;
  message.set_hardware_type(hardware_ethernet);
  message.set_protocol_type(protocol_ipv4);
  message.set_hardware_length(message.sender_mac_bytes);
  message.set_protocol_length(ipv4_bytes);
  message.set_operation(operation);
  message.set_sender_mac(own.mac);
  message.set_sender_address(ipv4_of(own.address));
  const bool is_answer = operation == AddressResolutionOperation::reply;
  if (is_answer)
    message.set_target_mac(to.mac);
  message.set_target_address(ipv4_of(to.address));
  std::vector<uint8_t> frame(shortest_ethernet_frame);
  write_ethernet_header(frame.data(), is_answer ? to.mac : all_macs, own.mac,
                        spec::EtherType::address_resolution);
  write_header(frame.data() + ethernet_bytes, message);
  return frame;
}

// `message` is complete except for the MAC and the checksum.
std::vector<uint8_t> discovery(spec::NeighborMessage message, const Neighbor& own, const Neighbor& to) {
  message.set_option_length(1);
  message.set_mac(own.mac);
  Ipv6Header ip;
  ip.set_version(6);
  ip.set_payload_length(neighbor_bytes);
  ip.set_next_header(icmpv6);
  ip.set_hop_limit(on_this_wire);
  ip.set_source_address(own.address);
  ip.set_destination_address(to.address);
  message.set_checksum(~icmp_sum(ip, reinterpret_cast<const uint8_t*>(&message)));
  std::vector<uint8_t> frame(ethernet_bytes + Ipv6Header::bytes + neighbor_bytes);
  write_ethernet_header(frame.data(), to.mac, own.mac, spec::EtherType::ipv6);
  write_header(frame.data() + ethernet_bytes, ip);
  write_header(frame.data() + ethernet_bytes + Ipv6Header::bytes, message);
  return frame;
}

} // namespace

std::optional<NeighborMessage> neighbor_message_of(std::span<const uint8_t> frame) {
  if (frame.size() < ethernet_bytes)
    return std::nullopt;
  const auto packet = frame.subspan(ethernet_bytes);
  switch (ether_type_of(frame)) {
  case spec::EtherType::address_resolution:
    return read_address_resolution(packet);
  case spec::EtherType::ipv6:
    return read_discovery(packet);
  default:
    return std::nullopt;
  }
}

std::vector<uint8_t> neighbor_question(const Neighbor& own, const NetworkAddress& wanted) {
  if (wire::is_ipv4(wanted))
    return address_resolution(AddressResolutionOperation::request, own, {.address = wanted, .mac = {}});
  spec::NeighborMessage message;
  message.set_type(NeighborMessageType::solicitation);
  message.set_target_address(wanted);
  message.set_option_type(NeighborOptionType::source_link_layer_address);
  const NetworkAddress group = solicited_group(wanted);
  return discovery(message, own, {.address = group, .mac = group_mac(group)});
}

std::vector<uint8_t> neighbor_answer(const Neighbor& own, const std::optional<Neighbor>& asker) {
  if (wire::is_ipv4(own.address))
    return address_resolution(AddressResolutionOperation::reply, own, *asker);
  const bool is_told = asker && asker->address != unspecified;
  spec::NeighborMessage message;
  message.set_type(NeighborMessageType::advertisement);
  message.set_solicited(is_told ? 1 : 0);
  message.set_override_mac(1);
  message.set_target_address(own.address);
  message.set_option_type(NeighborOptionType::target_link_layer_address);
  return discovery(message, own,
                   is_told ? *asker : Neighbor{.address = all_nodes, .mac = group_mac(all_nodes)});
}

} // namespace fpga_verbs::link
