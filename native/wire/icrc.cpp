#include "wire/icrc.h"

#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/icrc_implementations.h"
#include "wire/packet_bytes.h"

#include <algorithm>
#include <array>

namespace fpga_verbs::wire {
namespace {

#if defined(__x86_64__)
std::array<CrcImplementation, 4> supported_implementations() {
  __builtin_cpu_init();
  const bool carryless = __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("pclmul");
  const bool wide_256 = carryless && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
  const bool wide_512 = wide_256 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return {{{"vpclmulqdq-512", wide_512, icrc_wide_512, icrc_copy_wide_512, vcrc_wide_512},
           {"vpclmulqdq-256", wide_256, icrc_wide_256, icrc_copy_wide_256, vcrc_wide_256},
           {"pclmulqdq", carryless, icrc_carryless, icrc_copy_carryless, vcrc_carryless},
           {"slicing-by-8", true, icrc_slicing, icrc_copy_slicing, vcrc_slicing}}};
}
#else
std::array<CrcImplementation, 1> supported_implementations() {
  return {{{"slicing-by-8", true, icrc_slicing, icrc_copy_slicing, vcrc_slicing}}};
}
#endif

const auto implementations = supported_implementations();
const CrcImplementation& in_use = *std::ranges::find_if(implementations, &CrcImplementation::is_supported);

// The headers before the BTH with ones in what changes on the way.

unsigned mask_ipv4_and_udp(uint8_t* at) {
  auto ip = read_header<spec::Ipv4Header>(at);
  ip.set_differentiated_services(~0u);
  ip.set_congestion_notification(~0u);
  ip.set_time_to_live(~0u);
  ip.set_header_checksum(~0u);
  write_header(at, ip);
  auto udp = read_header<spec::UdpHeader>(at + spec::Ipv4Header::bytes);
  udp.set_checksum(~0u);
  write_header(at + spec::Ipv4Header::bytes, udp);
  return spec::Ipv4Header::bytes + spec::UdpHeader::bytes;
}

unsigned mask_ipv6_and_udp(uint8_t* at) {
  auto ip = read_header<spec::Ipv6Header>(at);
  ip.set_traffic_class(~0u);
  ip.set_flow_label(~0u);
  ip.set_hop_limit(~0u);
  write_header(at, ip);
  auto udp = read_header<spec::UdpHeader>(at + spec::Ipv6Header::bytes);
  udp.set_checksum(~0u);
  write_header(at + spec::Ipv6Header::bytes, udp);
  return spec::Ipv6Header::bytes + spec::UdpHeader::bytes;
}

unsigned mask_local_route(uint8_t* at) {
  auto route = read_header<spec::LocalRouteHeader>(at);
  route.set_virtual_lane(~0u);
  write_header(at, route);
  return spec::LocalRouteHeader::bytes;
}

unsigned mask_global_route(uint8_t* at) {
  std::memset(at, 0xff, spec::LocalRouteHeader::bytes);
  auto route = read_header<spec::GlobalRouteHeader>(at + spec::LocalRouteHeader::bytes);
  route.set_traffic_class(~0u);
  route.set_flow_label(~0u);
  route.set_hop_limit(~0u);
  write_header(at + spec::LocalRouteHeader::bytes, route);
  return spec::LocalRouteHeader::bytes + spec::GlobalRouteHeader::bytes;
}

unsigned mask(PacketFraming framing, uint8_t* network) {
  switch (framing) {
  case PacketFraming::ethernet_ipv4:
    return mask_ipv4_and_udp(network);
  case PacketFraming::ethernet_ipv6:
    return mask_ipv6_and_udp(network);
  case PacketFraming::infiniband_local:
    return mask_local_route(network);
  case PacketFraming::infiniband_global:
    return mask_global_route(network);
  }
  return 0;
}

} // namespace

std::span<const CrcImplementation> crc_implementations() { return implementations; }

const CrcImplementation& crc_in_use() { return in_use; }

uint32_t icrc_of_headers(PacketFraming framing, const uint8_t* network, size_t bytes) {
  // RoCEv2 has ones where the LRH of a packet with GRH would be.
  constexpr size_t front = spec::LocalRouteHeader::bytes;
  std::array<uint8_t, front + spec::packet_headroom> masked;
  std::memset(masked.data(), 0xff, front);
  std::memcpy(masked.data() + front, network, bytes);
  uint8_t* const transport = masked.data() + front + mask(framing, masked.data() + front);
  // FECN, BECN and what is reserved beside them.
  transport[spec::BaseTransportHeader::forward_congestion_bit / 8] = 0xff;
  return is_ethernet(framing) ? icrc_update(icrc_start, masked.data(), front + bytes)
                              : icrc_update(icrc_start, masked.data() + front, bytes);
}

} // namespace fpga_verbs::wire
