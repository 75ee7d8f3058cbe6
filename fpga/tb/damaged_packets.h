#pragma once

#include "wire_packets.h"

#include "wire/packet_bytes.h"
#include "wire/packet_checksum.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace fpga_verbs::bench {

// Packets of the device model with a fault, as a link may deliver them. A packet may break one rule and keep
// those that are checked before it. Packets have no VCRC.
class PacketDamage {
public:
  PacketDamage(Random& random, WirePacket& packet) : random_(random), packet_(packet), bytes_(packet.bytes) {}

  // One random fault, or none.
  void some() {
    switch (random_.below(14)) {
    case 0:
      break;
    case 1: // any bit
      flip(random_.once(2) ? packet_.payload : size());
      break;
    case 2: // a bit of the headers
      flip(packet_.payload);
      set_checks();
      break;
    case 3:
      bytes_.resize(1 + random_.below(size()));
      break;
    case 4: // lengths agree, but the packet is too short for its headers
      bytes_.resize(packet_.network + 1 +
                    random_.below(packet_.payload + spec::icrc_bytes - packet_.network));
      set_lengths();
      set_checks();
      break;
    case 5: // often longer than any payload
      bytes_.resize(size() + 4 * random_.below(2 * packet_.payload_bytes / 4 + 2));
      set_lengths();
      set_checks();
      break;
    case 6: // a wrong length
      set_lengths(static_cast<int>(random_.below(3)) - 1, static_cast<int>(random_.below(3)) - 1);
      set_checks();
      break;
    case 7:
      transport()[0] = static_cast<uint8_t>(random_.bits());
      set_checks();
      break;
    case 8: // pad or version
      transport()[1] = static_cast<uint8_t>(random_.once(4) ? random_.bits() : random_.bits() & 0xf0);
      set_checks();
      break;
    case 9:
      damage_network();
      set_checks();
      break;
    case 10: // random bytes
      bytes_.resize(1 + random_.below(size()));
      fill(random_, std::span(bytes_).subspan(random_.once(2) ? 0 : std::min(packet_.network, size())));
      break;
    case 11: // the IP length ends within the UDP header
      end_in_udp();
      set_checks();
      break;
    default: // no fault
      if (random_.once(2))
        set_udp_checksum();
      if (random_.once(4))
        flip(size());
    }
    // An Ethernet frame may be longer than its packet.
    if (wire::is_ethernet(packet_.framing) && random_.once(3)) {
      const uint32_t end = size();
      bytes_.resize(end + 1 + random_.below(80));
      fill(random_, std::span(bytes_).subspan(end));
    }
  }

private:
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }
  uint8_t* network() { return bytes_.data() + packet_.network; }
  uint32_t network_bytes() const {
    switch (packet_.framing) {
    case wire::PacketFraming::ethernet_ipv4:
      return spec::Ipv4Header::bytes + spec::UdpHeader::bytes;
    case wire::PacketFraming::ethernet_ipv6:
      return spec::Ipv6Header::bytes + spec::UdpHeader::bytes;
    case wire::PacketFraming::infiniband_local:
      return spec::LocalRouteHeader::bytes;
    default:
      return spec::LocalRouteHeader::bytes + spec::GlobalRouteHeader::bytes;
    }
  }
  uint8_t* transport() { return network() + network_bytes(); }
  uint8_t* udp() { return transport() - spec::UdpHeader::bytes; }
  // Whether this many bytes follow the start of the IP header or LRH.
  bool has(uint32_t bytes) const { return size() - packet_.network >= bytes; }

  void flip(uint32_t end) { bytes_[random_.below(end)] ^= static_cast<uint8_t>(1U << random_.below(8)); }

  template <class Header, class Change> void change(uint8_t* at, Change change) {
    auto header = wire::read_header<Header>(at);
    change(header);
    wire::write_header(at, header);
  }

  // Sets the lengths to those of a packet that ends here, plus these differences.
  void set_lengths(int outer = 0, int inner = 0) {
    if (!has(network_bytes()))
      return;
    const uint32_t all = size() - packet_.network + static_cast<uint32_t>(outer);
    const uint32_t behind = size() - packet_.network - network_bytes() + static_cast<uint32_t>(inner);
    const auto set_udp = [&] {
      change<spec::UdpHeader>(udp(),
                              [&](auto& header) { header.set_length(behind + spec::UdpHeader::bytes); });
    };
    switch (packet_.framing) {
    case wire::PacketFraming::ethernet_ipv4:
      change<spec::Ipv4Header>(network(), [&](auto& header) { header.set_total_length(all); });
      set_udp();
      break;
    case wire::PacketFraming::ethernet_ipv6:
      change<spec::Ipv6Header>(
          network(), [&](auto& header) { header.set_payload_length(all - spec::Ipv6Header::bytes); });
      set_udp();
      break;
    case wire::PacketFraming::infiniband_global:
      change<spec::GlobalRouteHeader>(network() + spec::LocalRouteHeader::bytes,
                                      [&](auto& header) { header.set_payload_length(behind); });
      [[fallthrough]];
    default:
      change<spec::LocalRouteHeader>(network(),
                                     [&](auto& header) { header.set_packet_length(all / 4 & 0x7ff); });
    }
  }

  void end_in_udp() {
    const uint32_t behind = random_.below(spec::UdpHeader::bytes);
    if (packet_.framing == wire::PacketFraming::ethernet_ipv4)
      change<spec::Ipv4Header>(
          network(), [&](auto& header) { header.set_total_length(spec::Ipv4Header::bytes + behind); });
    if (packet_.framing == wire::PacketFraming::ethernet_ipv6)
      change<spec::Ipv6Header>(network(), [&](auto& header) { header.set_payload_length(behind); });
  }

  // Sets the IPv4 checksum and the ICRC of the packet.
  void set_checks() {
    if (packet_.framing == wire::PacketFraming::ethernet_ipv4 && has(spec::Ipv4Header::bytes))
      change<spec::Ipv4Header>(network(), [&](auto& header) {
        header.set_header_checksum(0);
        std::array<uint8_t, spec::Ipv4Header::bytes> bytes;
        wire::write_header(bytes.data(), header);
        header.set_header_checksum(~wire::folded(wire::internet_sum(bytes.data(), bytes.size())) & 0xffff);
      });
    if (size() >= packet_.payload + spec::icrc_bytes)
      wire::write_icrc(bytes_.data() + packet_.covered(), packet_.register_now());
  }

  void set_udp_checksum() {
    if (!wire::is_ethernet(packet_.framing))
      return;
    const uint32_t addresses = packet_.framing == wire::PacketFraming::ethernet_ipv4 ? 8 : 32;
    const uint32_t udp_bytes = size() - static_cast<uint32_t>(udp() - bytes_.data());
    change<spec::UdpHeader>(udp(), [](auto& header) { header.set_checksum(0); });
    const uint32_t checksum = ~wire::folded(wire::internet_sum(udp() - addresses, addresses + udp_bytes) +
                                            static_cast<uint32_t>(spec::IpProtocol::udp) + udp_bytes) &
                              0xffff;
    change<spec::UdpHeader>(udp(),
                            [&](auto& header) { header.set_checksum(checksum == 0 ? 0xffff : checksum); });
  }

  // Changes a field of the headers before the BTH that random bits rarely hit.
  void damage_network() {
    switch (packet_.framing) {
    case wire::PacketFraming::ethernet_ipv4:
      change<spec::Ipv4Header>(network(), [&](auto& header) {
        switch (random_.below(5)) {
        case 0:
          header.set_version(random_.below(16));
          break;
        case 1:
          header.set_header_length(random_.below(16));
          break;
        case 2:
          header.set_more_fragments(1);
          break;
        case 3:
          header.set_fragment_offset(1U << random_.below(13));
          break;
        default:
          header.set_protocol(random_.below(256));
        }
      });
      break;
    case wire::PacketFraming::ethernet_ipv6:
      change<spec::Ipv6Header>(network(), [&](auto& header) {
        if (random_.once(2))
          header.set_version(random_.below(16));
        else
          header.set_next_header(random_.below(256));
      });
      break;
    default:
      change<spec::LocalRouteHeader>(network(), [&](auto& header) {
        if (random_.once(3))
          header.set_link_version(random_.below(16));
        else if (random_.once(2))
          header.set_link_next_header(random_.below(4));
      });
      if (packet_.framing == wire::PacketFraming::infiniband_global)
        change<spec::GlobalRouteHeader>(network() + spec::LocalRouteHeader::bytes, [&](auto& header) {
          if (random_.once(2))
            header.set_ip_version(random_.below(16));
          else
            header.set_next_header(random_.below(256));
        });
    }
    // Ethernet: the EtherType before the IP header, and the port after it.
    if (!wire::is_ethernet(packet_.framing))
      return;
    if (random_.once(4))
      network()[-1 - static_cast<int>(random_.below(2))] ^= static_cast<uint8_t>(1U << random_.below(8));
    if (random_.once(4))
      change<spec::UdpHeader>(udp(),
                              [&](auto& header) { header.set_destination_port(random_.below(65536)); });
  }

  Random& random_;
  WirePacket& packet_;
  std::vector<uint8_t>& bytes_;
};

} // namespace fpga_verbs::bench
