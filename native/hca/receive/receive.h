#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/descriptor_fetch.h"
#include "hca/receive/request_checks.h"
#include "hca/respond/responder_resources.h"
#include "spec/contexts.h"
#include "spec/data_units.h"
#include "spec/enums.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace fpga_verbs::hca {

// Decides whether a request packet is executed, answered again, refused or dropped (InfiniBand volume 1,
// 9.7). The only writer of the responder part, except the fields that name another block. All accepted
// packets of a queue pair take one path from here, so that they are executed and answered in order; refusals
// take the same path. A packet waits while its queue pair's receive work request is fetched; other queue
// pairs continue. A flush takes all receive work requests posted to the queue pair itself, one per turn, and
// then follows the accepted packets.
//
// It sets these fields of Packet: answer_psn and message_sequence_number, always; syndrome, for a refusal;
// for an executed packet first, last, message_offset; for RDMA and atomics message_length, remote_address and
// remote_key; for a receive work request that it takes receive_*; duplicate.
class Receive final : public Block, public UnitTaker<spec::PacketUnit> {
public:
  Receive(const HcaParameters& parameters, Counters& counters, PacketMemory& packets,
          QueuePairStateCache& queue_pairs, DescriptorFetch& descriptors, EventPort& events,
          ResponderResources& resources, DataLink<spec::PacketUnit>& requests_arrived,
          DataLink<spec::QueuePairNotice>& flushes, DataLink<spec::QueuePairNotice>& descriptors_fetched,
          DataLink<spec::QueuePairNotice>& descriptors_wanted,
          DataLink<spec::ReceiveUnit>& requests_accepted);

  // Takes one flush or one packet, takes one fetched receive work request, and works for one queue pair.
  bool step() override;

  // A packet that packet_receiver has just checked, while no other packet waits here.
  Taken take_at_once(const spec::PacketUnit& unit) override;
  // Looks up the queue pair once.
  TakenTrain take_train(std::span<const spec::PacketUnit> train) override;

  // For tests: the first inconsistency, or null.
  const char* verify() const { return queue_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &queue_; }

private:
  static constexpr size_t entries = 256; // all receive packet buffers, and flushes
  static_assert(entries > spec::receive_packet_buffers);

  // Result of the work on a data unit.
  enum class Progress : uint8_t { done, more, waits };
  // A packet and its queue pair, which stays where it is until another one is looked for.
  struct Request {
    const spec::PacketUnit& unit;
    QueuePairParts& queue_pair;

    const spec::QueuePairControl& control() const { return queue_pair.control; }
    TransportResponder& responder() const { return queue_pair.transport().responder(); }
    bool is_reliable() const { return control().service_type() == spec::ServiceType::reliable_connection; }
  };

  inline bool may_pass() const;
  bool can_work() const { return requests_accepted_.has_credit() && descriptors_wanted_.has_credit(); }
  inline bool take_flush();
  bool tell_credits(unsigned underlying_function, uint32_t queue_pair_number);
  void begin_flush(unsigned underlying_function, uint32_t queue_pair_number);
  inline bool take_arrived();
  inline bool take_fetched();
  inline bool work();
  inline Progress work_on(const spec::PacketUnit& unit);
  Progress flush(const spec::PacketUnit& unit);
  [[gnu::always_inline]] inline Progress take_request(const spec::PacketUnit& unit,
                                                      QueuePairParts* queue_pair);
  inline size_t execute_writes(const Request& request, std::span<const spec::PacketUnit> train);
  inline void let_wait(const spec::PacketUnit& unit);
  void pass_taken(const Request& request);
  void want_descriptor(const spec::PacketUnit& unit);
  Progress go_on(const spec::PacketUnit& unit, bool has_descriptor);
  Progress end_flush(const spec::PacketUnit& unit);
  [[gnu::always_inline]] inline void execute(const Request& request);
  void repeat(const Request& request);
  void refuse(const Request& request, uint8_t syndrome);
  inline bool take_kept(const Request& request);
  void lose(const Request& request);
  static void lose_message(QueuePairParts& queue_pair);
  void drop(const spec::PacketUnit& unit);
  inline static void describe(QueuePairParts& queue_pair, Packet& packet);
  inline void establish(const Request& request);
  inline void accept(const spec::PacketUnit& unit, spec::ReceiveAction action);
  inline QueuePairParts* parts_of(const spec::PacketUnit& unit);

  Counters& counters_;
  PacketMemory& packets_;
  QueuePairStateCache& queue_pairs_;
  DescriptorFetch& descriptors_;
  EventPort& events_;
  ResponderResources& resources_;
  DataLink<spec::PacketUnit>& requests_arrived_;
  DataLink<spec::QueuePairNotice>& flushes_;
  DataLink<spec::QueuePairNotice>& descriptors_fetched_;
  DataLink<spec::QueuePairNotice>& descriptors_wanted_;
  DataLink<spec::ReceiveUnit>& requests_accepted_;
  HardwareLinkedListQueue<spec::PacketUnit> queue_; // index: queue pair; a flush has no packet
};

} // namespace fpga_verbs::hca
