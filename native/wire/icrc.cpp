#include "wire/icrc.h"

#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/icrc_implementations.h"
#include "wire/icrc_polynomial.h"
#include "wire/packet_bytes.h"

#include <algorithm>
#include <array>
#include <utility>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace fpga_verbs::wire {
namespace {

#if defined(__x86_64__)
std::array<CrcImplementation, 5> supported_implementations() {
  __builtin_cpu_init();
  const bool carryless = __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("pclmul");
  const bool carryless_avx = carryless && __builtin_cpu_supports("avx");
  const bool wide_256 =
      carryless_avx && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
  const bool wide_512 = wide_256 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return {{{"vpclmulqdq-512", wide_512, icrc_wide_512, vcrc_wide_512},
           {"vpclmulqdq-256", wide_256, icrc_wide_256, vcrc_wide_256},
           {"pclmulqdq-avx", carryless_avx, icrc_carryless_avx, vcrc_carryless_avx},
           {"pclmulqdq", carryless, icrc_carryless, vcrc_carryless},
           {"slicing-by-8", true, icrc_slicing, vcrc_slicing}}};
}
#elif defined(__aarch64__)
std::array<CrcImplementation, 2> supported_implementations() {
  const bool crc32 = (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
  return {{{"crc32", crc32, icrc_crc32, vcrc_slicing}, {"slicing-by-8", true, icrc_slicing, vcrc_slicing}}};
}
#else
std::array<CrcImplementation, 1> supported_implementations() {
  return {{{"slicing-by-8", true, icrc_slicing, vcrc_slicing}}};
}
#endif

const auto implementations = supported_implementations();
const CrcImplementation& in_use = *std::ranges::find_if(implementations, &CrcImplementation::is_supported);

// The headers before the BTH, with ones in fields that change on the way.

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

// FECN, BECN and the reserved bits next to them.
constexpr size_t variant_of_transport = spec::BaseTransportHeader::forward_congestion_bit / 8;

// RoCEv2 uses ones in place of the LRH of a packet with GRH: the register after them.
constexpr uint32_t start_of_roce = [] {
  constexpr unsigned route_bits = spec::LocalRouteHeader::bytes * 8;
  uint32_t crc = icrc_start;
  for (unsigned bit = 0; bit < route_bits; ++bit)
    crc = (crc >> 1) ^ ((crc & 1) == 0 ? icrc_polynomial.reflected : 0);
  return crc;
}();

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
  std::array<uint8_t, spec::packet_headroom> masked;
  std::memcpy(masked.data(), network, bytes);
  uint8_t* const transport = masked.data() + mask(framing, masked.data());
  transport[variant_of_transport] = 0xff;
  return icrc_update(is_ethernet(framing) ? start_of_roce : icrc_start, masked.data(), bytes);
}

uint32_t icrc_of_transport(uint32_t crc, uint8_t* transport, size_t bytes) {
  const uint8_t variant = std::exchange(transport[variant_of_transport], uint8_t{0xff});
  crc = icrc_update(crc, transport, bytes);
  transport[variant_of_transport] = variant;
  return crc;
}

namespace {

// The whole packet at once, with the headers masked in place.
template <size_t header_bytes, unsigned (*mask_headers)(uint8_t*)>
uint32_t icrc_in_place(uint8_t* network, size_t bytes) {
  std::array<uint8_t, header_bytes> headers;
  std::memcpy(headers.data(), network, header_bytes);
  mask_headers(network);
  uint8_t& variant = network[header_bytes + variant_of_transport];
  const uint8_t flags = std::exchange(variant, uint8_t{0xff});
  const uint32_t crc = icrc_update(start_of_roce, network, bytes);
  std::memcpy(network, headers.data(), header_bytes);
  variant = flags;
  return crc;
}

} // namespace

uint32_t icrc_of_packet(PacketFraming framing, uint8_t* network, size_t header_bytes, size_t bytes) {
  constexpr size_t udp = spec::UdpHeader::bytes;
  if (framing == PacketFraming::ethernet_ipv4)
    return icrc_in_place<spec::Ipv4Header::bytes + udp, mask_ipv4_and_udp>(network, bytes);
  if (framing == PacketFraming::ethernet_ipv6)
    return icrc_in_place<spec::Ipv6Header::bytes + udp, mask_ipv6_and_udp>(network, bytes);
  return icrc_update(icrc_of_headers(framing, network, header_bytes), network + header_bytes,
                     bytes - header_bytes);
}

} // namespace fpga_verbs::wire
