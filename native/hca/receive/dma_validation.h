#pragma once

#include "hca/base/bit_mask.h"
#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/complete/completion_queue.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/memory/memory_access.h"
#include "hca/memory/memory_translation.h"
#include "hca/memory/memory_windows.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/receive_queue_entry_handler.h"
#include "hca/receive/shared_receive_queues.h"
#include "hca/respond/responder_resources.h"
#include "hca/respond/response_reads.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/queues.h"

#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::hca {

// Executes accepted requests, in order for each queue pair: writes the payload to memory if keys, protection
// domain, bounds and rights permit it, then writes the completion of a receive, then has the request
// answered. Atomics execute here, one per step, and are therefore atomic with respect to each other. A READ
// is only checked here; response reads the memory, and holds the key until then.
//
// An unreliable service answers nothing. A message that is too long for its receive, or a refused RDMA WRITE,
// is dropped, and the receive work request that it took completes in error. The queue pair continues, because
// no peer may make it fail (InfiniBand volume 1, 9.9.3: classes D and E of a responder's errors). Class D
// would leave a queue pair's own receive work request for the next message. Here that message may already
// have taken the next one, so both classes are treated as class E.
//
// A queue pair that a request causes to fail is in ERR from then on, and its later requests are dropped. A
// flush completes the receive work requests that were taken and not completed, one per step. Those of a
// shared receive queue are not numbered consecutively: each completes as flushed when the packet that took it
// is dropped. The flush completes the one whose message has started, and the event last WQE reached follows
// (InfiniBand volume 1, 11.6.3.2). The receive work requests of a queue pair that is reset or destroyed
// complete in the same way; resource_manager completes the one whose message has started. InfiniBand permits
// losing them (volume 1, 10.3.1), but then the queue would shrink with every destroyed queue pair.
class DmaValidation final : public Block, public UnitTaker<spec::ReceiveUnit> {
public:
  DmaValidation(const HcaParameters& parameters, Counters& counters, PacketMemory& packets,
                QueuePairStateCache& queue_pairs, const SharedReceiveQueues& shared_receive_queues,
                MemoryTranslation& translation, MemoryAccess& memory,
                ReceiveQueueEntryHandler& receive_entries, CompletionQueue& completion_queue,
                EventPort& events, ResponseReads& reads, ResponderResources& responder_resources,
                DataLink<spec::ReceiveUnit>& requests_placed, DataLink<spec::AnswerUnit>& answers);

  // Takes one data unit into its queue pair's list, and processes one. A READ without a place in
  // ResponseReads waits, as does a SEND with invalidate whose key is not idle; other queue pairs continue.
  bool step() override;

  // A unit that needs no receive queue entry, or has just received it, while no other unit waits here.
  Taken take_at_once(const spec::ReceiveUnit& unit) override;
  // Looks up the queue pair once, and translates once the payload of a message that is written to contiguous
  // memory.
  TakenTrain take_train(std::span<const spec::ReceiveUnit> train) override;

  // For tests: the first inconsistency of the block's state, or null.
  const char* verify() const { return queue_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &queue_; }

private:
  static constexpr size_t entries = 256; // all receive packet buffers, and flushes
  static_assert(entries > spec::receive_packet_buffers);

  // Result of the work on a data unit.
  enum class Progress : uint8_t { done, more, waits, waits_for_key };
  // Facts about a queue pair that are needed when its context may have been evicted.
  struct Owner {
    unsigned underlying_function = 0;
    uint32_t queue_pair_number = 0;
    uint32_t protection_domain = 0;
    uint32_t receive_protection_domain = 0; // of what receive work requests name
    uint32_t receive_completion_queue = 0;
    uint16_t partition_key_index = 0;
    uint8_t port = 0;
    bool is_reliable = true;
    bool shares_receive_queue = false;
  };

  inline bool resume_waiting();
  inline bool resume_waiting_for_keys();
  inline bool pass();
  inline Progress begin(const spec::ReceiveUnit& unit);
  inline bool take_placed();
  inline bool work();
  inline void let_wait(Progress progress, uint16_t list, uint16_t entry);
  [[gnu::always_inline]] inline Progress work_on(const spec::ReceiveUnit& unit);
  [[gnu::always_inline]] inline Progress work_on(const spec::ReceiveUnit& unit,
                                                 const QueuePairStateCache::Found& found,
                                                 std::optional<Owner>& owner);
  inline static bool executes(const QueuePairStateCache::Found& found);
  [[gnu::always_inline]] inline Progress execute(const Owner& owner, const spec::ReceiveUnit& unit);

  [[gnu::always_inline]] inline Progress place_send(const Owner& owner, const Packet& packet,
                                                    uint16_t handle);
  inline MemoryWindows::Outcome invalidate(const Owner& owner, const Packet& packet);
  inline AccessFault scatter(const Owner& owner, const Packet& packet, uint16_t handle);
  inline KeyAccess access_of(const Owner& owner, const Packet& packet) const;
  inline void place_write(const Owner& owner, const Packet& packet, uint16_t handle);
  inline size_t place_together(const Owner& owner, std::span<const spec::ReceiveUnit> train);
  inline void end_write(const Owner& owner, const Packet& packet, AccessFault fault);
  inline bool is_refused(const Owner& owner, const Packet& packet);
  void refuse_message(const Owner& owner, const Packet& packet, spec::CompletionStatus status);
  void refuse_length(const Owner& owner, const Packet& packet);
  Progress begin_read(const Owner& owner, const Packet& packet);
  void execute_atomic(const Owner& owner, const Packet& packet);
  inline Owner owner_of(const spec::ReceiveUnit& unit, const spec::QueuePairControl& control) const;
  Progress flush(const Owner& owner);
  Progress flush_shared(const Owner& owner);
  void flush_taken(const Owner& owner, const spec::ReceiveUnit& unit);
  inline void open_receive(const Owner& owner, const Packet& packet);
  inline static void note_completed(const Owner& owner, ReceiveQueueState& responder,
                                    uint32_t sequence_number);
  void flush_one(const Owner& owner, uint32_t sequence_number);

  inline bool complete(const Owner& owner, const Packet& packet, spec::CompletionStatus status);
  inline bool write_completion(const Owner& owner, spec::CompletionQueueEntry& entry,
                               uint32_t sequence_number);
  [[gnu::always_inline]] inline void finish(const Owner& owner, const Packet& packet);
  void fail_receive(const Owner& owner, const Packet& packet, spec::CompletionStatus status,
                    spec::Syndrome syndrome);
  void fail(const Owner& owner, const Packet& packet, spec::Syndrome syndrome);
  void refuse(const Owner& owner, uint32_t psn, uint32_t message_sequence_number, uint8_t syndrome);
  void refuse_invalidate(const Owner& owner, const Packet& packet);
  void enter_error(const Owner& owner, spec::EventType type, uint32_t psn);
  inline void acknowledge(const Owner& owner, const Packet& packet);
  void answer(const Owner& owner, spec::AnswerUnit unit);
  void send_acknowledge();
  inline void send(const spec::AnswerUnit& unit);
  inline void release(const spec::ReceiveUnit& unit);

  const HcaParameters& parameters_;
  Counters& counters_;
  PacketMemory& packets_;
  QueuePairStateCache& queue_pairs_;
  const SharedReceiveQueues& shared_receive_queues_;
  MemoryTranslation& translation_;
  MemoryWindows windows_;
  MemoryAccess& memory_;
  ReceiveQueueEntryHandler& receive_entries_;
  CompletionQueue& completion_queue_;
  EventPort& events_;
  ResponseReads& reads_;
  ResponderResources& responder_resources_;
  DataLink<spec::ReceiveUnit>& requests_placed_;
  DataLink<spec::AnswerUnit>& answers_;
  HardwareLinkedListQueue<spec::ReceiveUnit> queue_;
  BitMask waiting_{entries};          // lists whose first unit is a READ without a place
  uint16_t resumed_ = 0;              // of these the one that went on last
  BitMask waiting_for_keys_{entries}; // lists whose first unit takes a key back that is not idle
  uint32_t idle_seen_ = 0;            // KeyTable::idle_count() when they were looked at
  bool takes_train_ = false;
  std::optional<spec::AnswerUnit> acknowledge_; // the newest ACK of the train, which covers those before it
};

} // namespace fpga_verbs::hca
