#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/parameters.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/collect/kick_records.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/transmit/packet_templates.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "wire/packet_cause.h"
#include "wire/packet_template.h"

#include <cstdint>
#include <span>

namespace fpga_verbs::hca {

// Adds headers and checks to payloads, and ends commands: with its last packet a command becomes a message
// that completion tracks, and releases PCB and execution credit. The packets of a queue pair leave in order;
// queue pairs take turns.
class PacketBuilder final : public Block, public UnitTaker<spec::PacketUnit> {
public:
  PacketBuilder(const HcaParameters& parameters, Counters& counters, CollectBufferPort& collect_buffer,
                PhysicalCollectBuffers& buffers, QueuePairStateCache& queue_pairs, KickRecords& kick_records,
                PacketTemplates& templates, PacketMemory& packets,
                DataLink<spec::PacketUnit>& packets_gathered, DataLink<spec::PacketUnit>& requests_built,
                DataLink<spec::MessageUnit>& messages, DataLink<spec::FinishUnit>& finishes_sent);

  // Takes one packet, and builds one.
  bool step() override;

  // A packet that dma has just gathered, while no other packet waits here.
  Taken take_at_once(const spec::PacketUnit& unit) override;
  // Looks up the queue pair once.
  TakenTrain take_train(std::span<const spec::PacketUnit> train) override;

  const char* verify() const { return units_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &units_; }

private:
  // Common to all packets of a command.
  struct Message {
    const PhysicalCollectBuffer& pcb;
    QueuePairParts& queue_pair;
    PacketTemplates::Template& packet_template;
    wire::PacketCause cause;
    uint32_t mtu;
    uint8_t port;
    spec::ServiceType service;
  };

  inline bool can_work();
  inline bool take_packet();
  inline bool serve();
  [[gnu::always_inline]] inline void work_on(const spec::PacketUnit& unit);
  inline Message message_of(const spec::PacketUnit& unit, QueuePairParts& queue_pair);
  void drop(const spec::PacketUnit& unit);
  [[gnu::always_inline]] inline void end_message(const spec::PacketUnit& unit);
  inline size_t send_together(const Message& message, std::span<const spec::PacketUnit> train);
  inline void build(const Message& message, const spec::PacketUnit& unit);
  inline void note_built(const Message& message, const spec::PacketUnit& unit);
  inline static spec::MessageUnit message_unit(const spec::PacketUnit& unit,
                                               const PhysicalCollectBuffer& pcb);
  inline void end_command(const PhysicalCollectBuffer& pcb);

  Counters& counters_;
  CollectBufferPort& collect_buffer_;
  PhysicalCollectBuffers& buffers_;
  QueuePairStateCache& queue_pairs_;
  KickRecords& kick_records_;
  PacketTemplates& templates_;
  PacketMemory& packets_;
  DataLink<spec::PacketUnit>& packets_gathered_;
  DataLink<spec::PacketUnit>& requests_built_;
  DataLink<spec::MessageUnit>& messages_;
  DataLink<spec::FinishUnit>& finishes_sent_;
  HardwareLinkedListQueue<spec::PacketUnit> units_; // index: queue pair
};

} // namespace fpga_verbs::hca
