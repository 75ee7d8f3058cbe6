#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/collect/kick_records.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/queue_pair/address_handles.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/send_queue/send_queue_port.h"
#include "spec/contexts.h"
#include "spec/data_units.h"
#include "spec/enums.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// Decides whether a queue pair may execute a command now; the only writer of the requester part.
// Commands execute in the order of the send queue, whichever way they arrive: a command executes when its
// number is next and, if it was kicked directly, the scheduler has nothing to fetch for the queue pair. The
// block hands an early command back: it is also in the send queue, and the scheduler fetches it in its turn
// (US8589610, send queue scheduler). The cases below are therefore the only ones in which a command waits
// here.
class QueuePairFetch final : public Block, public SendQueuePort, public UnitTaker<spec::KickUnit> {
public:
  QueuePairFetch(const HcaParameters& parameters, Counters& counters, const KickRecords& kick_records,
                 CollectBufferPort& collect_buffer, PhysicalCollectBuffers& buffers,
                 QueuePairStateCache& queue_pairs, const AddressHandles& address_handles, EventPort& events,
                 DataLink<spec::KickUnit>& kicks_started, DataLink<spec::PostNotice>& post_notices,
                 DataLink<spec::ScheduleDone>& schedule_dones,
                 DataLink<spec::QueuePairNotice>& progress_notices, DataLink<spec::KickUnit>& executions,
                 DataLink<spec::ScheduleRequest>& schedule_requests,
                 DataLink<spec::FinishUnit>& finishes_handed_back);

  // Takes one data unit of each kind, and decides on one command.
  bool step() override;

  // A command that virtual_kick has just started, while no other command waits here.
  Taken take_at_once(const spec::KickUnit& kick) override;
  // Looks up the queue pair once.
  TakenTrain take_train(std::span<const spec::KickUnit> train) override;

  // The queue pair has become RTS: schedules its pending commands. False: no credit now; call again.
  bool resume(unsigned underlying_function, uint32_t queue_pair_number) override;

  // Whether a command of the queue pair waits in this block.
  bool has_commands(uint32_t queue_pair_number) const override {
    return queue_.find(queue_pair_number) != no_list;
  }

  // For tests: the first inconsistency, or null.
  const char* verify() const { return queue_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &queue_; }

private:
  // The decision on a kicked command.
  enum class Verdict : uint8_t { execute, stale, hand_back, out_of_range };
  // The requester part, which is changed, and what is needed of the others; good for one data unit, which
  // looks for no other queue pair.
  class Standing {
  public:
    explicit Standing(QueuePairParts& queue_pair) : queue_pair_(&queue_pair) {}
    const spec::QueuePairControl& control() const { return queue_pair_->control; }
    const SendQueueProgress& progress() const { return queue_pair_->completion; }
    SendQueueState& requester() const { return queue_pair_->requester; }
    TransportContext transport() const { return queue_pair_->transport(); }
    int entries() const { return 1 << control().send_queue_log2(); } // of the send queue

  private:
    QueuePairParts* queue_pair_;
  };

  inline std::optional<Standing> standing(unsigned underlying_function, uint32_t queue_pair_number);

  void take_done(const spec::ScheduleDone& done);
  void take_notice(const spec::PostNotice& notice);
  inline bool has_more() const;
  inline bool may_pass() const;
  inline bool can_decide() const;
  inline bool take_started();
  inline bool decide_next();
  inline void decide(const spec::KickUnit& kick);
  [[gnu::always_inline]] inline void decide(const spec::KickUnit& kick, const std::optional<Standing>& now);
  void take_progress(const spec::QueuePairNotice& notice);

  inline Verdict judge(const spec::KickUnit& kick, const Standing& standing, SendQueueState& requester);
  inline static spec::SendHold hold(const PhysicalCollectBuffer& pcb, const Standing& standing,
                                    const SendQueueState& requester);
  [[gnu::always_inline]] inline void execute(spec::KickUnit kick, const Standing& standing,
                                             SendQueueState& requester);
  inline const AddressHandles::Entry* find_address(const spec::KickUnit& kick,
                                                   const PhysicalCollectBuffer& pcb,
                                                   const spec::QueuePairControl& control) const;
  inline void plan(const spec::KickUnit& kick, const TransportContext& transport, PhysicalCollectBuffer& pcb);
  void hand_back(const spec::KickUnit& kick, const Standing& standing, SendQueueState& requester);
  void give_back(const spec::KickUnit& kick);
  void schedule(unsigned underlying_function, uint32_t queue_pair_number, const Standing& standing,
                SendQueueState& requester);
  void fail(unsigned underlying_function, uint32_t queue_pair_number, spec::Refusal refusal,
            uint32_t sequence_number);
  void enter_error(unsigned underlying_function, uint32_t queue_pair_number, spec::Refusal refusal,
                   uint32_t sequence_number);

  Counters& counters_;
  const KickRecords& kick_records_;
  CollectBufferPort& collect_buffer_;
  PhysicalCollectBuffers& buffers_;
  QueuePairStateCache& queue_pairs_;
  const AddressHandles& address_handles_;
  EventPort& events_;
  DataLink<spec::KickUnit>& kicks_started_;
  DataLink<spec::PostNotice>& post_notices_;
  DataLink<spec::ScheduleDone>& schedule_dones_;
  DataLink<spec::QueuePairNotice>& progress_notices_;
  DataLink<spec::KickUnit>& executions_;
  DataLink<spec::ScheduleRequest>& schedule_requests_;
  DataLink<spec::FinishUnit>& finishes_handed_back_;
  HardwareLinkedListQueue<spec::KickUnit> queue_; // index: queue pair
};

} // namespace fpga_verbs::hca
