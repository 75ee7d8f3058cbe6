#include "hca/port/port_attributes.h"

namespace fpga_verbs::hca {

namespace {

// Full member of the partition that every port is in (InfiniBand volume 1, 10.9.1.2).
constexpr uint16_t default_partition_key = 0xffff;

} // namespace

PortAttributes::PortAttributes(const HcaParameters& parameters, link::Link* link)
    : parameters_(parameters), link_(link), link_source_(link != nullptr ? link->source() : std::nullopt),
      first_address_(link_source_ ? link_source_->address
                                  : link::first_address(parameters.link_layer, parameters.board_number)) {
  for (PartitionKeyTable& table : partition_keys_)
    table[0] = default_partition_key;
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function)
    reset_function(function);
}

void PortAttributes::reset_function(unsigned underlying_function) {
  ++version_;
  for (unsigned port = 1; port <= parameters_.ports; ++port) {
    GidTable& table = gids_[port - 1][underlying_function];
    table = {};
    table[0] = link::link_local_address(address(port, underlying_function));
    if (link_layer() == spec::LinkLayer::ethernet)
      table[1] = link::ipv4_address(address(port, underlying_function));
    // A socket can send only from its own address.
    if (link_source_)
      table[0] = table[1] = link_source_->network_address;
  }
}

std::optional<PortAttributes::Owner> PortAttributes::owner_of(link::Address address) const {
  const link::Address place = address - first_address_;
  const Owner owner{.port = static_cast<unsigned>(place / link::addresses_per_port) + 1,
                    .underlying_function = static_cast<unsigned>(place % link::addresses_per_port)};
  if (place >= link::addresses_per_board || !exists(owner.port) ||
      owner.underlying_function >= parameters_.underlying_functions)
    return std::nullopt;
  // The addresses next to that of a socket belong to others.
  if (link_source_ && place != 0)
    return std::nullopt;
  return owner;
}

wire::MacAddress PortAttributes::mac(unsigned port, unsigned underlying_function) const {
  return link_layer() == spec::LinkLayer::ethernet ? link::mac_address(address(port, underlying_function))
                                                   : wire::MacAddress{};
}

uint16_t PortAttributes::local_identifier(unsigned port, unsigned underlying_function) const {
  return link_layer() == spec::LinkLayer::infiniband
             ? static_cast<uint16_t>(address(port, underlying_function))
             : uint16_t{0};
}

wire::PacketSource PortAttributes::source(unsigned underlying_function,
                                          const spec::AddressVector& address_vector,
                                          unsigned partition_key_index) const {
  const unsigned port = address_vector.port();
  return {.link_layer = link_layer(),
          .mac = mac(port, underlying_function),
          .local_identifier = local_identifier(port, underlying_function),
          .gid = gids(port, underlying_function)[address_vector.gid_index()],
          .partition_key = partition_keys_[port - 1][partition_key_index],
          .udp_source_port = link_source_ ? link_source_->udp_port : uint16_t{0}};
}

} // namespace fpga_verbs::hca
