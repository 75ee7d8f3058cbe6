// Address handles, and multicast groups.
#include "link/address.h"
#include "driver/explanation.h"
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace fpga_verbs::verbs {

namespace {

bool is_ipv4(const Gid& gid) {
  constexpr std::array<uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(prefix.begin(), prefix.end(), gid.raw);
}

// The MAC address that a GID implies: that of a multicast group (RFC 1112, 6.4 and RFC 2464, 7), the one from
// which a link-local GID was derived as EUI-64 (RFC 4291, appendix A), or that of an emulated board, which
// ends with its IPv4 address. Links to other devices resolve the rest.
std::array<uint8_t, 6> mac_of(const Gid& gid) {
  const uint8_t* const raw = gid.raw;
  if (is_ipv4(gid) && raw[12] >> 4 == 0xe)
    return {0x01, 0x00, 0x5e, static_cast<uint8_t>(raw[13] & 0x7f), raw[14], raw[15]};
  if (is_ipv4(gid))
    return {0x02, 0xf0, raw[12], raw[13], raw[14], raw[15]};
  if (raw[0] == 0xff)
    return {0x33, 0x33, raw[12], raw[13], raw[14], raw[15]};
  if (raw[0] == 0xfe && raw[1] == 0x80 && raw[11] == 0xff && raw[12] == 0xfe)
    return {static_cast<uint8_t>(raw[8] ^ 2), raw[9], raw[10], raw[13], raw[14], raw[15]};
  return {};
}

Gid gid_of_ipv4(const uint8_t* address) {
  Gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  std::memcpy(gid.raw + 12, address, 4);
  return gid;
}

// The entry of the port's GID table with this GID; for a datagram to a group, the first of its kind.
uint8_t own_index(const driver::PortFacts& facts, const Gid& destination) {
  for (size_t index = 0; index < facts.gids.size(); ++index)
    if (std::ranges::equal(facts.gids[index].gid(), destination.raw))
      return static_cast<uint8_t>(index);
  for (size_t index = 0; index < facts.gids.size(); ++index) {
    Gid gid{};
    std::ranges::copy(facts.gids[index].gid(), gid.raw);
    if (is_ipv4(gid) == is_ipv4(destination))
      return static_cast<uint8_t>(index);
  }
  return 0;
}

} // namespace

int address_vector_of(Context* context, const AddressAttributes& attributes, spec::AddressVector& vector) {
  const spec::LinkLayer layer = [&] {
    driver::PortFacts facts;
    return driver_of(context).query_port(attributes.port_num, facts) == 0 ? facts.attributes.link_layer()
                                                                          : spec::LinkLayer::unspecified;
  }();
  if (layer == spec::LinkLayer::unspecified)
    return driver::explain(EINVAL,
                           "port_num is " + std::to_string(attributes.port_num) + "; ports count from 1");
  if (layer == spec::LinkLayer::ethernet && attributes.is_global == 0)
    return driver::explain(EINVAL, "on Ethernet (RoCE) an address has a GID: is_global is to be set, as with "
                                   "-g or -x of the program");
  vector = {};
  vector.set_port(attributes.port_num);
  vector.set_service_level(attributes.sl);
  vector.set_source_path_bits(attributes.src_path_bits);
  vector.set_static_rate(attributes.static_rate);
  vector.set_destination_local_identifier(attributes.dlid);
  vector.set_is_global(attributes.is_global != 0 ? 1 : 0);
  if (attributes.is_global == 0)
    return 0;
  const GlobalRoute& route = attributes.grh;
  vector.set_hop_limit(route.hop_limit == 0 && layer == spec::LinkLayer::ethernet ? 64 : route.hop_limit);
  vector.set_traffic_class(route.traffic_class);
  vector.set_flow_label(route.flow_label);
  vector.set_gid_index(route.sgid_index);
  vector.set_destination_gid(route.dgid.raw);
  if (layer == spec::LinkLayer::ethernet) {
    uint64_t mac = 0;
    const std::array<uint8_t, 6> bytes = mac_of(route.dgid);
    std::memcpy(&mac, bytes.data(), bytes.size());
    vector.set_destination_mac_low(static_cast<uint32_t>(mac));
    vector.set_destination_mac_high(static_cast<uint32_t>(mac >> 32));
  }
  return 0;
}

VERBS_EXPORT AddressHandle* ibv_create_ah(ProtectionDomain* domain, AddressAttributes* attributes) {
  spec::AddressVector vector;
  if (const int error = address_vector_of(domain->context, *attributes, vector))
    return failed<AddressHandle>(error);
  auto made = std::make_unique<AddressHandle>();
  if (const int error =
          driver_of(domain->context).create_address_handle(number_of(domain), vector, made->handle))
    return failed<AddressHandle>(error);
  made->context = domain->context;
  made->pd = domain;
  static_cast<OwnProtectionDomain*>(domain)->users.fetch_add(1);
  return made.release();
}

VERBS_EXPORT int ibv_destroy_ah(AddressHandle* handle) {
  if (const int error = driver_of(handle->context).destroy_address_handle(handle->handle))
    return error;
  static_cast<OwnProtectionDomain*>(handle->pd)->users.fetch_sub(1);
  delete handle;
  return 0;
}

// GRH and IPv6 header have the same layout; an IPv4 header occupies the last 20 B (annex A17).
VERBS_EXPORT int ibv_init_ah_from_wc(Context* context, uint8_t port, WorkCompletion* completion,
                                     GlobalRouteHeader* header, AddressAttributes* attributes) {
  *attributes = {};
  attributes->dlid = completion->slid;
  attributes->sl = completion->sl;
  attributes->src_path_bits = completion->dlid_path_bits;
  attributes->port_num = port;
  if ((completion->wc_flags & wc_grh) == 0)
    return 0;
  driver::PortFacts facts;
  if (const int error = driver_of(context).query_port(port, facts)) {
    errno = error;
    return -1;
  }
  constexpr uint8_t farthest = 0xff;
  const uint32_t first = ntohl(header->version_tclass_flow);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(header);
  const bool is_ipv6 = first >> 28 == 6;
  const Gid destination = is_ipv6 ? header->dgid : gid_of_ipv4(bytes + 36);
  attributes->is_global = 1;
  attributes->grh.dgid = is_ipv6 ? header->sgid : gid_of_ipv4(bytes + 32);
  attributes->grh.sgid_index = own_index(facts, destination);
  attributes->grh.hop_limit = farthest;
  attributes->grh.flow_label = is_ipv6 ? first & 0xfffff : 0;
  attributes->grh.traffic_class = static_cast<uint8_t>(is_ipv6 ? first >> 20 & 0xff : bytes[21]);
  return 0;
}

VERBS_EXPORT AddressHandle* ibv_create_ah_from_wc(ProtectionDomain* domain, WorkCompletion* completion,
                                                  GlobalRouteHeader* header, uint8_t port) {
  AddressAttributes attributes;
  if (ibv_init_ah_from_wc(domain->context, port, completion, header, &attributes) != 0)
    return nullptr;
  return ibv_create_ah(domain, &attributes);
}

VERBS_EXPORT int ibv_resolve_eth_l2_from_gid(Context*, AddressAttributes* attributes, uint8_t* mac,
                                             uint16_t* vlan) {
  const std::array<uint8_t, 6> found = mac_of(attributes->grh.dgid);
  std::ranges::copy(found, mac);
  if (vlan != nullptr)
    *vlan = 0xffff; // none
  return 0;
}

VERBS_EXPORT int ibv_attach_mcast(QueuePair* queue_pair, const Gid* gid, uint16_t) {
  return OwnQueuePair::of(queue_pair)
      .pair.change_multicast(spec::ManagementOpcode::attach_multicast, gid->raw);
}

VERBS_EXPORT int ibv_detach_mcast(QueuePair* queue_pair, const Gid* gid, uint16_t) {
  return OwnQueuePair::of(queue_pair)
      .pair.change_multicast(spec::ManagementOpcode::detach_multicast, gid->raw);
}

} // namespace fpga_verbs::verbs
