#pragma once

#include "hca/base/parameters.h"
#include "link/address.h"
#include "link/link.h"
#include "spec/contexts.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "wire/packet_headers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::hca {

// Identity and capabilities of a board's ports: MAC addresses, LIDs, GID and P_Key tables, state. Each
// function has its own MAC address or LID and its own GID table at each port. Ports count from 1, as in
// address vectors.
class PortAttributes {
public:
  using GidTable = std::array<wire::Gid, spec::gid_table_entries>;
  using PartitionKeyTable = std::array<uint16_t, spec::partition_key_table_entries>;

  // A function at a port.
  struct Owner {
    unsigned port = 0;
    unsigned underlying_function = 0;
  };

  // `link`: of the first port; null: a link that changes no addresses.
  explicit PortAttributes(const HcaParameters& parameters, link::Link* link = nullptr);

  unsigned ports() const { return parameters_.ports; }
  spec::LinkLayer link_layer() const { return parameters_.link_layer; }
  bool exists(unsigned port) const { return port >= 1 && port <= parameters_.ports; }

  // A port is down if it is not enabled, its link has no peer, or the device is disabled.
  bool enabled(unsigned port) const { return !disabled_ && is_set_enabled(port); }
  bool is_set_enabled(unsigned port) const { return (enabled_ & bit(port)) != 0; }
  void set_enabled(unsigned port, bool enabled) {
    enabled_ = enabled ? enabled_ | bit(port) : enabled_ & ~bit(port);
  }
  bool disabled() const { return disabled_; }
  void set_disabled(bool disabled) { disabled_ = disabled; }
  spec::PortState state(unsigned port) const {
    return (active_ports() & bit(port)) != 0 ? spec::PortState::active : spec::PortState::down;
  }
  spec::PortPhysicalState physical_state(unsigned port) const {
    if (!enabled(port))
      return spec::PortPhysicalState::disabled;
    return (connected_ports() & bit(port)) != 0 ? spec::PortPhysicalState::link_up
                                                : spec::PortPhysicalState::polling;
  }
  // A bit for each port, from bit 0 on; those of ports that do not exist never change.
  unsigned active_ports() const { return disabled_ ? 0 : enabled_ & connected_ports(); }
  static constexpr unsigned bit(unsigned port) { return 1u << (port - 1); }

  // The port of this board with this link address; nothing: none.
  std::optional<Owner> owner_of(link::Address address) const;
  // Whether it is that of a port of another board, and of no group.
  bool is_elsewhere(link::Address address) const {
    return !link::is_multicast(link_layer(), address) && !owner_of(address);
  }

  wire::MacAddress mac(unsigned port, unsigned underlying_function) const;      // of an Ethernet port, else 0
  uint16_t local_identifier(unsigned port, unsigned underlying_function) const; // of an InfiniBand port, or 0

  const GidTable& gids(unsigned port, unsigned underlying_function) const {
    return gids_[port - 1][underlying_function];
  }
  void set_gid(unsigned port, unsigned underlying_function, unsigned index, const wire::Gid& gid) {
    ++version_;
    gids_[port - 1][underlying_function][index] = gid;
  }

  const PartitionKeyTable& partition_keys(unsigned port) const { return partition_keys_[port - 1]; }
  void set_partition_key(unsigned port, unsigned index, uint16_t partition_key) {
    ++version_;
    partition_keys_[port - 1][index] = partition_key;
  }

  // Changes when the result of source() may have changed.
  uint32_t version() const { return version_; }

  // The source addresses for packets of a function with this address vector. Its port exists, and its indices
  // are within the tables.
  wire::PacketSource source(unsigned underlying_function, const spec::AddressVector& address_vector,
                            unsigned partition_key_index) const;

  // Restores the function's GID tables to their reset state.
  void reset_function(unsigned underlying_function);

private:
  unsigned connected_ports() const { return link_ == nullptr || link_->is_connected() ? ~0u : ~bit(1); }
  link::Address address(unsigned port, unsigned underlying_function) const {
    return first_address_ + (port - 1) * link::addresses_per_port + underlying_function;
  }

  const HcaParameters& parameters_;
  link::Link* link_;
  std::optional<link::Link::Source> link_source_; // what function 0 has to send from
  link::Address first_address_;
  unsigned enabled_ = ~0u; // a bit for each port
  bool disabled_ = false;  // the device
  uint32_t version_ = 0;
  std::array<std::array<GidTable, spec::underlying_functions>, spec::ports> gids_{};
  std::array<PartitionKeyTable, spec::ports> partition_keys_{};
};

} // namespace fpga_verbs::hca
