#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/port/multicast_groups.h"
#include "hca/port/packet_memory.h"
#include "hca/port/port_attributes.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/queue_pair/virtual_queue_pairs.h"
#include "hca/transmit/packet_templates.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "wire/packet_parse.h"

#include <cstdint>
#include <span>

namespace fpga_verbs::hca {

// Parses arrived packets and checks their destination: a queue pair must have the number, which the block
// replaces by the queue pair's own (US7095750), its service must be the packet's, and port, addresses and
// P_Key must be its own and its peer's; for a datagram, port, address, P_Key and Q_Key must be its own. A
// multicast datagram goes to each member that passes, in a separate buffer; a member without a buffer loses
// it. The block drops and counts all other packets. A packet that passes pins its queue pair and continues,
// parsed (Packet::parsed): responses to completion, requests to receive. Requests for which receive has no
// room wait here, so that they do not delay the responses behind them.
class PacketReceiver final : public Block, public UnitTaker<spec::PacketUnit> {
public:
  PacketReceiver(Counters& counters, PacketMemory& packet_memory, const PortAttributes& attributes,
                 const MulticastGroups& groups, VirtualQueuePairs& virtual_queue_pairs,
                 QueuePairStateCache& queue_pair_state_cache, PacketTemplates& templates,
                 DataLink<spec::PacketUnit>& packets_arrived, DataLink<spec::PacketUnit>& responses_arrived,
                 DataLink<spec::PacketUnit>& requests_arrived);

  bool step() override;

  // A packet that has just come in, while none is before it.
  Taken take_at_once(const spec::PacketUnit& unit) override;
  // Requests among them go on as trains, each of one queue pair.
  TakenTrain take_train(std::span<const spec::PacketUnit> train) override;

private:
  [[gnu::always_inline]] inline void receive(uint16_t handle);
  [[gnu::noinline]] void receive_unknown(uint16_t handle);
  inline wire::KnownHeaders* known_headers(std::span<const uint8_t> packet) const;
  void receive_for_group(uint16_t handle);
  void copy(uint16_t handle, const MulticastGroups::Member& member);
  void pass_to(uint16_t handle, const MulticastGroups::Member& member);
  [[gnu::always_inline]] inline void pass(uint16_t handle, unsigned underlying_function,
                                          const wire::ParsedPacket& parsed);
  void drop(uint16_t handle, spec::PacketDrop reason);
  void count(unsigned port, spec::PacketDrop reason);
  inline spec::PacketDrop check(const spec::QueuePairControl& control, unsigned port,
                                const wire::ParsedPacket& parsed, const uint8_t* bytes) const;
  inline spec::PacketDrop check_addresses(const spec::QueuePairControl& control, unsigned port,
                                          const wire::ParsedPacket& parsed, const uint8_t* bytes) const;
  inline bool is_of_peer(const spec::QueuePairControl& control, const spec::AddressVector& peer,
                         unsigned port, const wire::ParsedPacket& parsed, const uint8_t* bytes) const;
  spec::PacketDrop check_datagram(const spec::QueuePairControl& control, unsigned port,
                                  const wire::ParsedPacket& parsed, const uint8_t* bytes) const;
  inline bool is_in_partition(const spec::QueuePairControl& control, uint16_t partition_key) const;

  Counters& counters_;
  PacketMemory& packet_memory_;
  const PortAttributes& attributes_;
  const MulticastGroups& groups_;
  VirtualQueuePairs& virtual_queue_pairs_;
  QueuePairStateCache& queue_pair_state_cache_;
  PacketTemplates& templates_;
  DataLink<spec::PacketUnit>& packets_arrived_;
  DataLink<spec::PacketUnit>& responses_arrived_;
  DataLink<spec::PacketUnit>& requests_arrived_;
  uint32_t transport_offset_ = 0; // of the BTH in the last packet parsed whole
  DataLink<spec::PacketUnit> waiting_{spec::receive_packet_buffers}; // requests: all that can arrive
};

} // namespace fpga_verbs::hca
