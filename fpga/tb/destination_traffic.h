#pragma once

#include "destination_queue_pairs.h"
#include "parsed_packets.h"
#include "wire_packets.h"

#include "hca/queue_pair/address_vector.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {

// Queue pairs of the device model, of all services, and packets to them. Most packets are valid except for
// one field. No two of 2^24 consecutive packets have the same PSN.
class DestinationTraffic {
public:
  struct QueuePair {
    uint32_t number = 0;
    uint32_t known_as = 0; // number that peers use
    unsigned underlying_function = 0;
    bool is_bound = false; // its number is bound
    bool is_quiescing = false;
  };
  // A packet that the parser accepts, and its port.
  struct Arriving {
    WirePacket packet;
    unsigned port = 1;
    ParsedByModel parsed;
  };

  // Packets arrive at the first `ports` ports.
  DestinationTraffic(Random& random, DestinationModel& model, bool is_infiniband, unsigned ports)
      : random_(random), model_(model), is_infiniband_(is_infiniband), ports_(ports) {}

  std::vector<QueuePair> live;
  std::deque<uint32_t> former;   // former numbers, the newest ones
  std::vector<uint32_t> waiting; // numbers in time-wait

  QueuePair& some_queue_pair() { return live[random_.below(static_cast<uint32_t>(live.size()))]; }
  unsigned some_port() { return 1 + random_.below(ports_); }

  void give_up(uint32_t known_as) {
    former.push_back(known_as);
    if (former.size() > 16)
      former.pop_front();
  }

  spec::QueuePairControl some_control() {
    spec::QueuePairControl control{};
    control.set_service_type(std::array{
        spec::ServiceType::reliable_connection, spec::ServiceType::reliable_connection,
        spec::ServiceType::unreliable_connection, spec::ServiceType::unreliable_datagram}[random_.below(4)]);
    control.set_port(some_port());
    control.set_partition_key_index(random_.below(spec::partition_key_table_entries));
    control.set_queue_key(static_cast<uint32_t>(random_.bits()));
    spec::AddressVector peer = some_address(random_);
    peer.set_port(random_.once(8) ? 1 + random_.below(spec::ports) : static_cast<unsigned>(control.port()));
    peer.set_is_global(!is_infiniband_ ? !random_.once(16) : random_.below(2));
    peer.set_gid_index(random_.below(spec::gid_table_entries));
    peer.set_destination_gid(some_gid(random_, random_.once(2)));
    std::array<uint8_t, spec::AddressVector::bytes> bytes;
    std::memcpy(bytes.data(), &peer, bytes.size());
    control.set_address_vector(bytes);
    return control;
  }

  // A packet to a queue pair; in some packets one field is wrong. Empty: the parser does not accept the
  // packet.
  std::optional<Arriving> some_packet_to(const QueuePair& of) {
    const spec::QueuePairControl& control =
        model_.queue_pairs.find(of.underlying_function, of.number)->control;
    const spec::AddressVector peer = hca::read_address_vector(control.address_vector());
    const auto port = is_off() ? some_port() : static_cast<unsigned>(control.port());
    const auto& gids = model_.attributes.gids(static_cast<unsigned>(control.port()), of.underlying_function);
    wire::Gid peer_gid;
    std::ranges::copy(peer.destination_gid(), peer_gid.begin());

    wire::PacketSource source;
    source.link_layer = is_infiniband_ ? spec::LinkLayer::infiniband : spec::LinkLayer::ethernet;
    source.local_identifier =
        static_cast<uint16_t>(is_off() ? random_.bits() : peer.destination_local_identifier());
    source.gid = is_off() ? some_gid(random_, random_.once(2)) : peer_gid;
    source.partition_key = model_.attributes.partition_keys(
                               static_cast<unsigned>(control.port()))[control.partition_key_index()] |
                           (random_.once(4) ? 0 : 0x8000);
    if (is_off())
      source.partition_key ^= static_cast<uint16_t>(1U << random_.below(16));
    spec::AddressVector address = some_address(random_);
    address.set_source_path_bits(0);
    address.set_is_global(is_off() ? random_.below(2) : static_cast<uint32_t>(peer.is_global()));
    address.set_destination_gid(is_off()          ? some_group_or_gid()
                                : random_.once(8) ? gids[random_.below(spec::gid_table_entries)]
                                                  : gids[peer.gid_index()]);
    address.set_destination_local_identifier(
        is_off() ? static_cast<uint32_t>(random_.bits() & 0xffff)
                 : model_.attributes.local_identifier(static_cast<unsigned>(control.port()),
                                                      of.underlying_function));
    Arriving arriving{.packet = made(address, source, some_number(of), control), .port = port};
    arriving.parsed = parse(is_infiniband_, arriving.packet.bytes);
    if (arriving.parsed.drop != spec::PacketDrop::none ||
        arriving.parsed.parsed.traits().operation == spec::PacketOperation::congestion_notification)
      return std::nullopt;
    return arriving;
  }

  // The packet as it arrives at the model's port: with a VCRC, if the link has one.
  std::vector<uint8_t> bytes_on_link(std::vector<uint8_t> bytes) const {
    if (!is_infiniband_)
      return bytes;
    const uint32_t vcrc = wire::vcrc_update(wire::vcrc_start, bytes.data(), bytes.size());
    bytes.resize(bytes.size() + spec::vcrc_bytes);
    wire::write_vcrc(bytes.data() + bytes.size() - spec::vcrc_bytes, vcrc);
    return bytes;
  }

private:
  bool is_off() { return random_.once(14); }

  uint32_t some_number(const QueuePair& of) {
    if (!waiting.empty() && random_.once(10))
      return waiting[random_.below(static_cast<uint32_t>(waiting.size()))];
    if (!is_off())
      return of.known_as;
    switch (random_.below(4)) {
    case 0:
      return spec::multicast_queue_pair;
    case 1:
      return former.empty() ? of.number : former[random_.below(static_cast<uint32_t>(former.size()))];
    case 2:
      return of.known_as | CONTEXTS << random_.below(2);
    default:
      return random_.below(1U << 24);
    }
  }

  wire::Gid some_group_or_gid() {
    wire::Gid gid = some_gid(random_, random_.once(2));
    if (wire::is_ipv4(gid))
      gid[12] = static_cast<uint8_t>(0xe0 | (gid[12] & 15));
    else if (random_.once(2))
      gid[0] = 0xff;
    return gid;
  }

  WirePacket made(const spec::AddressVector& address, const wire::PacketSource& source, uint32_t to,
                  const spec::QueuePairControl& control) {
    WirePacket packet;
    const bool has_any_service = is_off();
    do
      packet = some_packet(random_, 64);
    while (!has_any_service && spec::traits_of(packet.fields.opcode).service != control.service_type());
    wire::PacketFields fields = packet.fields;
    fields.packet_sequence_number = sequence_ = (sequence_ + 1) & 0xff'ffff;
    if (!is_off())
      fields.queue_key = static_cast<uint32_t>(control.queue_key());
    wire::PacketTemplate made = wire::make_packet_template(address, source, 1, to);
    std::vector<uint8_t> buffer(spec::packet_headroom + packet.payload_bytes + 16);
    fill(random_, buffer);
    const std::span<uint8_t> built =
        wire::build_packet(buffer.data() + spec::packet_headroom, made, fields, packet.payload_bytes);
    const size_t check_bytes = is_infiniband_ ? spec::vcrc_bytes : 0;
    packet.bytes = {built.begin(), built.end() - static_cast<ptrdiff_t>(check_bytes)};
    return packet;
  }

  Random& random_;
  DestinationModel& model_;
  bool is_infiniband_;
  unsigned ports_;
  uint32_t sequence_ = 0;
};

} // namespace fpga_verbs::bench
