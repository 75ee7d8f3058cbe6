#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/memory/host_reads.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/packet_memory.h"
#include "hca/port/port.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/respond/responder_resources.h"
#include "hca/respond/response_reads.h"
#include "hca/transmit/packet_templates.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// Answers requests: ACK, NAK, RNR NAK, RDMA READ responses and atomic responses, for each queue pair in the
// order of its requests, one packet per step, round robin over queue pairs. A READ stays at the head of its
// queue pair's list until its last response, not ready while it waits for data (US8804752). With acknowledge
// coalescing, an ACK is sent only if no other follows it.
class Response final : public Block, public UnitTaker<spec::AnswerUnit> {
public:
  Response(const HcaParameters& parameters, Counters& counters, PacketMemory& packets,
           QueuePairStateCache& queue_pairs, MemoryTranslation& translation, HostReads& host_reads,
           PacketTemplates& templates, const Port& port, EventPort& events, ResponseReads& reads,
           const ResponderResources& responder_resources, DataLink<spec::AnswerUnit>& answers,
           DataLink<spec::PacketUnit>& responses_built);

  // An ACK, while no earlier answer waits, and no packet is known of whose ACK could acknowledge its own too.
  Taken take_at_once(const spec::AnswerUnit& unit) override;

  // Takes one answer into its queue pair's list, and builds one packet.
  bool step() override;

  // For tests: the first inconsistency of the block's state, or null.
  const char* verify() const { return queue_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &queue_; }

private:
  inline bool pass();
  inline bool take_answer();
  inline bool build();
  bool resume_arrived();
  bool has_data(uint16_t list, const spec::AnswerUnit& unit);
  [[gnu::always_inline]] inline bool work_on(const spec::AnswerUnit& unit, uint16_t handle,
                                             bool is_superseded);
  inline bool is_superseded(uint16_t list, const spec::AnswerUnit& unit);
  KeyAccess next_access(const spec::AnswerUnit& unit, const QueuePairParts& queue_pair);
  [[gnu::always_inline]] inline bool build_packet_of(const spec::AnswerUnit& unit,
                                                     const QueuePairParts& queue_pair, uint16_t handle);
  inline uint8_t acknowledge_syndrome(const spec::AnswerUnit& unit, const QueuePairParts& queue_pair);
  bool build_read(const spec::AnswerUnit& unit, const QueuePairParts& queue_pair, uint16_t handle);
  void fail_read(const spec::AnswerUnit& unit, spec::Syndrome syndrome);
  inline void send(const spec::AnswerUnit& unit, const spec::QueuePairControl& control,
                   const wire::PacketFields& fields, uint32_t payload_bytes, uint16_t handle);
  inline void count(const spec::AnswerUnit& unit, uint8_t syndrome);
  inline void end(const spec::AnswerUnit& unit);

  const HcaParameters& parameters_;
  Counters& counters_;
  PacketMemory& packets_;
  QueuePairStateCache& queue_pairs_;
  MemoryTranslation& translation_;
  HostReads& host_reads_;
  PacketTemplates& templates_;
  const Port& port_;
  EventPort& events_;
  ResponseReads& reads_;
  const ResponderResources& responder_resources_;
  DataLink<spec::AnswerUnit>& answers_;
  DataLink<spec::PacketUnit>& responses_built_;
  HardwareLinkedListQueue<spec::AnswerUnit> queue_;
  std::optional<uint16_t> reader_; // the list that has its data, while its packet is built
};

} // namespace fpga_verbs::hca
