#include "hca/receive/packet_receiver.h"

#include "hca/queue_pair/address_vector.h"
#include "spec/packets.h"
#include "wire/packet_bytes.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace fpga_verbs::hca {

using spec::PacketDrop;

namespace {

uint32_t destination_local_identifier(const wire::ParsedPacket& parsed, const uint8_t* bytes) {
  return wire::read_header<spec::LocalRouteHeader>(bytes + parsed.network_offset)
      .destination_local_identifier();
}

} // namespace

PacketReceiver::PacketReceiver(Counters& counters, PacketMemory& packet_memory,
                               const PortAttributes& attributes, const MulticastGroups& groups,
                               VirtualQueuePairs& virtual_queue_pairs,
                               QueuePairStateCache& queue_pair_state_cache, PacketTemplates& templates,
                               DataLink<spec::PacketUnit>& packets_arrived,
                               DataLink<spec::PacketUnit>& responses_arrived,
                               DataLink<spec::PacketUnit>& requests_arrived)
    : counters_(counters), packet_memory_(packet_memory), attributes_(attributes), groups_(groups),
      virtual_queue_pairs_(virtual_queue_pairs), queue_pair_state_cache_(queue_pair_state_cache),
      templates_(templates), packets_arrived_(packets_arrived), responses_arrived_(responses_arrived),
      requests_arrived_(requests_arrived) {}

void PacketReceiver::pass(uint16_t handle, unsigned underlying_function, const wire::ParsedPacket& parsed) {
  Packet& packet = packet_memory_[handle];
  packet.payload = static_cast<uint16_t>(packet.begin + parsed.payload_offset);
  packet.payload_bytes = parsed.payload_bytes;
  spec::PacketUnit unit;
  unit.set_packet(handle);
  unit.set_underlying_function(underlying_function);
  unit.set_queue_pair_number(parsed.destination_queue_pair);
  unit.set_first(parsed.traits().begins_message() ? 1 : 0);
  unit.set_last(parsed.traits().ends_message() ? 1 : 0);
  if (parsed.traits().is_response())
    responses_arrived_.hand_over(unit);
  else if (waiting_.empty() && requests_arrived_.has_credit())
    requests_arrived_.hand_over(unit);
  else
    waiting_.push(unit);
}

bool PacketReceiver::step() {
  bool worked = false;
  if (!waiting_.empty() && requests_arrived_.has_credit()) {
    requests_arrived_.push(waiting_.front());
    waiting_.pop();
    worked = true;
  }
  // The next may be a response; completion always accepts those eventually.
  if (packets_arrived_.empty() || !responses_arrived_.has_credit())
    return worked && !waiting_.empty();
  const auto handle = static_cast<uint16_t>(packets_arrived_.front().packet());
  packets_arrived_.pop();
  receive(handle);
  return !packets_arrived_.empty() || !waiting_.empty();
}

PacketReceiver::Taken PacketReceiver::take_at_once(const spec::PacketUnit& unit) {
  if (!waiting_.empty() || !responses_arrived_.has_credit())
    return Taken::no;
  receive(static_cast<uint16_t>(unit.packet()));
  return waiting_.empty() ? Taken::done : Taken::more;
}

PacketReceiver::TakenTrain PacketReceiver::take_train(std::span<const spec::PacketUnit> train) {
  requests_arrived_.begin_train();
  TakenTrain taken;
  for (; taken.units != train.size() && waiting_.empty() && responses_arrived_.has_credit(); ++taken.units)
    receive(static_cast<uint16_t>(train[taken.units].packet()));
  requests_arrived_.end_train();
  taken.more = !waiting_.empty();
  return taken;
}

// A packet with headers that are known needs no other check: its queue pair's are as they were.
void PacketReceiver::receive(uint16_t handle) {
  Packet& packet = packet_memory_[handle];
  const std::span<uint8_t> bytes = packet_memory_.wire(handle);
  const wire::KnownHeaders* const known = known_headers(bytes);
  if (known == nullptr || !known->are_of(bytes, packet.port))
    return receive_unknown(handle);
  if (wire::parse_known(*known, bytes.data(), packet.parsed) != PacketDrop::none)
    return drop(handle, PacketDrop::icrc_mismatch);
  const std::optional<unsigned> underlying_function =
      queue_pair_state_cache_.pin_any(packet.parsed.destination_queue_pair);
  if (!underlying_function)
    return drop(handle, PacketDrop::unknown_queue_pair);
  pass(handle, *underlying_function, packet.parsed);
}

// Of packets to the queue pair to which this one goes if its BTH is where that of the last one was.
wire::KnownHeaders* PacketReceiver::known_headers(std::span<const uint8_t> packet) const {
  if (packet.size() < transport_offset_ + spec::BaseTransportHeader::bytes)
    return nullptr;
  const auto transport = wire::read_header<spec::BaseTransportHeader>(packet.data() + transport_offset_);
  const auto opcode = static_cast<spec::PacketOpcode>(transport.opcode());
  return templates_.known_headers(virtual_queue_pairs_.find(transport.destination_queue_pair()),
                                  spec::traits_of(opcode).is_response());
}

void PacketReceiver::receive_unknown(uint16_t handle) {
  wire::ParsedPacket& parsed = packet_memory_[handle].parsed;
  const std::span<uint8_t> bytes = packet_memory_.wire(handle);
  const PacketDrop unreadable =
      wire::parse_packet(attributes_.link_layer(), bytes.data(), static_cast<uint32_t>(bytes.size()), parsed);
  if (unreadable != PacketDrop::none)
    return drop(handle, unreadable);
  if (parsed.traits().operation == spec::PacketOperation::congestion_notification) {
    ++counters_.device.congestion_notifications;
    return packet_memory_.release(handle);
  }
  if (parsed.destination_queue_pair == spec::multicast_queue_pair)
    return receive_for_group(handle);
  const uint32_t queue_pair_number = virtual_queue_pairs_.find(parsed.destination_queue_pair);
  const auto found = queue_pair_state_cache_.find_any(queue_pair_number);
  if (!found)
    return drop(handle, virtual_queue_pairs_.is_waiting(parsed.destination_queue_pair)
                            ? PacketDrop::time_wait
                            : PacketDrop::unknown_queue_pair);
  parsed.destination_queue_pair = queue_pair_number;
  const unsigned underlying_function = found->control.underlying_function();
  const unsigned port = packet_memory_[handle].port;
  const PacketDrop reason = check(found->control, port, parsed, bytes.data());
  if (reason != PacketDrop::none)
    return drop(handle, reason);
  if (is_connection(found->control)) {
    transport_offset_ = parsed.transport_offset;
    if (wire::KnownHeaders* const known =
            templates_.known_headers(queue_pair_number, parsed.traits().is_response()))
      known->learn(bytes, port, parsed);
  }
  if (!queue_pair_state_cache_.pin(queue_pair_number))
    return drop(handle, PacketDrop::unknown_queue_pair);
  pass(handle, underlying_function, parsed);
}

// The last member gets the packet itself, the others get copies.
void PacketReceiver::receive_for_group(uint16_t handle) {
  const wire::ParsedPacket& parsed = packet_memory_[handle].parsed;
  const uint8_t* const bytes = packet_memory_.wire(handle).data();
  const unsigned port = packet_memory_[handle].port;
  const wire::Gid group = wire::addresses_of(bytes, parsed).destination;
  if (!wire::is_multicast(group))
    return drop(handle, PacketDrop::wrong_destination);
  const MulticastGroups::Member* last = nullptr;
  PacketDrop refusal = PacketDrop::unknown_queue_pair;
  for (const MulticastGroups::Member& member : groups_.members()) {
    if (member.group != group)
      continue;
    const auto found = queue_pair_state_cache_.find(member.underlying_function, member.queue_pair_number);
    const PacketDrop reason =
        found ? check(found->control, port, parsed, bytes) : PacketDrop::unknown_queue_pair;
    if (reason != PacketDrop::none) {
      if (refusal != PacketDrop::unknown_queue_pair)
        count(port, refusal);
      refusal = reason;
      continue;
    }
    if (!queue_pair_state_cache_.pin(member.queue_pair_number))
      continue;
    if (last != nullptr)
      copy(handle, *last);
    last = &member;
  }
  if (last == nullptr)
    return drop(handle, refusal);
  if (refusal != PacketDrop::unknown_queue_pair)
    count(port, refusal);
  pass_to(handle, *last);
}

// For a member with a pinned queue pair.
void PacketReceiver::copy(uint16_t handle, const MulticastGroups::Member& member) {
  if (packet_memory_.free(PacketUse::receive) <= spec::receive_packet_buffers_reserved) {
    ++counters_.function[member.underlying_function].requests_dropped;
    queue_pair_state_cache_.unpin(member.queue_pair_number);
    return;
  }
  const uint16_t made = *packet_memory_.allocate(PacketUse::receive);
  Packet& target = packet_memory_[made];
  const Packet& source = packet_memory_[handle];
  target.begin = source.begin;
  target.end = source.end;
  target.port = source.port;
  target.parsed = source.parsed;
  std::ranges::copy(packet_memory_.wire(handle), packet_memory_.wire(made).begin());
  pass_to(made, member);
}

void PacketReceiver::pass_to(uint16_t handle, const MulticastGroups::Member& member) {
  wire::ParsedPacket& parsed = packet_memory_[handle].parsed;
  parsed.destination_queue_pair = member.queue_pair_number;
  pass(handle, member.underlying_function, parsed);
}

// InfiniBand volume 1, 9.6.1: checks before the transport handles a packet.
PacketDrop PacketReceiver::check(const spec::QueuePairControl& control, unsigned port,
                                 const wire::ParsedPacket& parsed, const uint8_t* bytes) const {
  if (parsed.traits().service != control.service_type())
    return PacketDrop::wrong_service;
  if (port != control.port())
    return PacketDrop::wrong_destination;
  const bool is_datagram = control.service_type() == spec::ServiceType::unreliable_datagram;
  const PacketDrop wrong = is_datagram ? check_datagram(control, port, parsed, bytes)
                                       : check_addresses(control, port, parsed, bytes);
  if (wrong != PacketDrop::none)
    return wrong;
  if (!is_in_partition(control, parsed.partition_key))
    return PacketDrop::wrong_partition_key;
  return is_datagram && parsed.fields.queue_key != control.queue_key() ? PacketDrop::wrong_queue_key
                                                                       : PacketDrop::none;
}

// A datagram comes from any address to an address of the queue pair's function at its port, or to a group.
PacketDrop PacketReceiver::check_datagram(const spec::QueuePairControl& control, unsigned port,
                                          const wire::ParsedPacket& parsed, const uint8_t* bytes) const {
  if (parsed.destination_queue_pair == spec::multicast_queue_pair)
    return PacketDrop::none;
  const unsigned underlying_function = control.underlying_function();
  if (!wire::is_ethernet(parsed.framing) &&
      destination_local_identifier(parsed, bytes) != attributes_.local_identifier(port, underlying_function))
    return PacketDrop::wrong_destination;
  if (parsed.framing == wire::PacketFraming::infiniband_local)
    return PacketDrop::none;
  const wire::Gid destination = wire::addresses_of(bytes, parsed).destination;
  const bool is_own = destination != wire::Gid{} &&
                      std::ranges::count(attributes_.gids(port, underlying_function), destination) != 0;
  return is_own ? PacketDrop::none : PacketDrop::wrong_destination;
}

// A packet of a connection comes from the peer's address to the address with which the connection was set up.
PacketDrop PacketReceiver::check_addresses(const spec::QueuePairControl& control, unsigned port,
                                           const wire::ParsedPacket& parsed, const uint8_t* bytes) const {
  const spec::AddressVector peer = TransportPath(control).address_vector();
  if (is_of_peer(control, peer, port, parsed, bytes))
    return PacketDrop::none;
  const unsigned underlying_function = control.underlying_function();
  if (!wire::is_ethernet(parsed.framing)) {
    if (destination_local_identifier(parsed, bytes) !=
        attributes_.local_identifier(port, underlying_function))
      return PacketDrop::wrong_destination;
    if (parsed.source_local_identifier != peer.destination_local_identifier())
      return PacketDrop::wrong_source;
  }
  const bool has_gids = parsed.framing != wire::PacketFraming::infiniband_local;
  if (has_gids != (peer.is_global() != 0))
    return PacketDrop::wrong_source;
  if (!has_gids)
    return PacketDrop::none;
  const wire::PacketAddresses addresses = wire::addresses_of(bytes, parsed);
  if (addresses.destination != attributes_.gids(port, underlying_function)[peer.gid_index()])
    return PacketDrop::wrong_destination;
  return std::ranges::equal(addresses.source, peer.destination_gid()) ? PacketDrop::none
                                                                      : PacketDrop::wrong_source;
}

// Whether an Ethernet packet has the addresses of packets to the peer, reversed. False: check in detail.
bool PacketReceiver::is_of_peer(const spec::QueuePairControl& control, const spec::AddressVector& peer,
                                unsigned port, const wire::ParsedPacket& parsed, const uint8_t* bytes) const {
  if (!wire::is_ethernet(parsed.framing) || peer.port() != port || peer.is_global() == 0)
    return false;
  const wire::PacketTemplate& sent = templates_.of(parsed.destination_queue_pair, control);
  if (sent.framing != parsed.framing)
    return false;
  // Both kinds of IP header end with source and destination, followed by a UDP header and a BTH.
  const auto is_swapped = [&](auto address) {
    constexpr size_t address_bytes = sizeof address;
    const uint8_t* const to_peer = sent.request.wire.data() + wire::PacketTemplate::bytes -
                                   spec::BaseTransportHeader::bytes - spec::UdpHeader::bytes -
                                   2 * address_bytes;
    const uint8_t* const came = bytes + parsed.transport_offset - spec::UdpHeader::bytes - 2 * address_bytes;
    return std::memcmp(came, to_peer + address_bytes, address_bytes) == 0 &&
           std::memcmp(came + address_bytes, to_peer, address_bytes) == 0;
  };
  return parsed.framing == wire::PacketFraming::ethernet_ipv4 ? is_swapped(uint32_t{})
                                                              : is_swapped(wire::Gid{});
}

// Same partition, and one of the two is a full member (InfiniBand volume 1, 10.9.3).
bool PacketReceiver::is_in_partition(const spec::QueuePairControl& control, uint16_t partition_key) const {
  constexpr uint16_t full_member = 0x8000;
  const uint16_t own = attributes_.partition_keys(control.port())[control.partition_key_index()];
  return (own & ~full_member) != 0 && ((own ^ partition_key) & ~full_member) == 0 &&
         ((own | partition_key) & full_member) != 0;
}

void PacketReceiver::drop(uint16_t handle, PacketDrop reason) {
  count(packet_memory_[handle].port, reason);
  packet_memory_.release(handle);
}

void PacketReceiver::count(unsigned port, PacketDrop reason) {
  ++counters_.device.packets_dropped[static_cast<size_t>(reason)];
  PortCounters& counters = counters_.device.port[port - 1];
  if (reason == PacketDrop::wrong_partition_key)
    ++counters.bad_partition_keys;
  if (reason == PacketDrop::wrong_queue_key)
    ++counters.bad_queue_keys;
}

} // namespace fpga_verbs::hca
