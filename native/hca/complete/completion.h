#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/complete/completion_queue.h"
#include "hca/complete/timer.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/memory/memory_access.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/end_to_end_credits.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/send_queue/send_queue_reader.h"
#include "spec/data_units.h"
#include "wire/packet_parse.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::hca {

// Tracks the messages that queue pairs have sent. A message of an unreliable service is complete when it has
// left; one of a reliable service when it is acknowledged or answered, or has failed (InfiniBand volume 1,
// 9.7.5 to 9.7.7 and 9.9). The only writer of the queue pairs' completion parts.
//
// A retry moves the queue pair to a new epoch: its outstanding messages return their credits and are dropped,
// and queue_pair_fetch resumes with the oldest one that is not acknowledged. The block discards packets of
// the old epoch that dma still has; the epoch ends behind those in flight.
class Completion final : public Block,
                         public UnitTaker<spec::MessageUnit>,
                         public UnitTaker<spec::PacketUnit> {
public:
  struct Blocks {
    QueuePairStateCache& queue_pairs;
    CompletionQueue& completion_queue;
    SendQueueReader& send_queues;
    MemoryAccess& memory;
    PacketMemory& packets;
    EventPort& events;
  };
  struct Links {
    DataLink<spec::MessageUnit>& messages;
    DataLink<spec::PacketUnit>& responses_arrived;
    DataLink<spec::QueuePairNotice>& progress_notices;
    DataLink<spec::QueuePairNotice>& flushes;
    DataLink<spec::FinishUnit>& finishes_completed;
  };

  Completion(const HcaParameters& parameters, const Clock& clock, const Clock& sampled_clock, Blocks blocks,
             Links links);

  // Processes an answer and completes a train of the messages that it acknowledges, or continues with it; or
  // ends one of several messages that fail together; or takes a message, a queue pair that is stopped, or an
  // expired timer.
  bool step() override;

  using Taken = UnitTaker<spec::MessageUnit>::Taken;
  using UnitTaker<spec::PacketUnit>::take_train;
  using TakenAnswer = UnitTaker<spec::PacketUnit>::Taken;
  // A message whose last packet packet_builder has just built, while no earlier unit waits here.
  Taken take_at_once(const spec::MessageUnit& message) override;
  UnitTaker<spec::MessageUnit>::TakenTrain take_train(std::span<const spec::MessageUnit> train) override;
  // An answer that has just arrived, while no earlier unit waits here.
  TakenAnswer take_at_once(const spec::PacketUnit& answer) override;

  uint64_t next_deadline() const { return timer_.next_deadline(); }
  // The deadline has arrived: the next steps check for expired timers.
  void notice_deadline() { is_due_ = true; }

  const char* verify() const { return outstanding_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &outstanding_; }

private:
  // A queue pair whose parts are loaded for one data unit.
  struct Subject {
    unsigned underlying_function;
    uint32_t number;
    uint16_t list; // of its messages outstanding, or no_list
    QueuePairParts& queue_pair;

    const spec::QueuePairControl& control() const { return queue_pair.control; }
    TransportCompletion& part() const { return transport().completion(); }
    // The connection that its work goes through.
    TransportContext transport() const { return queue_pair.transport(); }
    TransportPath path() const { return transport().path(); }
    bool is_held() const { return queue_pair.requester.hold() != spec::SendHold::none; }
    bool has_failed() const { return control().state() == spec::QueuePairState::error; }
    bool goes_no_further() const {
      return has_failed() || part().failure() != spec::CompletionStatus::success;
    }
    bool is_held_for_credits() const { return queue_pair.requester.hold() == spec::SendHold::message_limit; }
    bool exceeds_limit() const { return exceeds_credits(transport().requester(), part()); }
    bool is_outdated() const { return part().retry_epoch() != transport().requester().retry_epoch(); }
  };

  // The action after all messages that an answer acknowledges are complete.
  enum class Then : uint8_t { nothing, place_answer, retry, wait, fail };

  // An answer in progress, at most one train of messages per step.
  struct Answer {
    bool active = false;
    Then then = Then::nothing;
    uint8_t timer_code = 0;                                           // wait
    spec::CompletionStatus failure = spec::CompletionStatus::success; // fail
    uint32_t through_psn = 0;                                         // acknowledged, itself included
    spec::PacketUnit unit;
  };

  inline std::optional<Subject> subject(unsigned underlying_function, uint32_t queue_pair_number);
  inline bool has_credits() const;
  inline bool work();
  inline bool has_more() const;

  // Messages.
  inline bool take_message();
  [[gnu::flatten]] void take(const spec::MessageUnit& message);
  [[gnu::always_inline]] inline void take(const spec::MessageUnit& message, std::optional<Subject>& its);
  inline bool may_take_at_once();
  inline bool complete_at_once(const Subject& subject, const spec::MessageUnit& message);
  inline std::optional<spec::MessageUnit> oldest(const Subject& subject);
  // The list may have ended with its last message since the look-up.
  bool has_outstanding(const Subject& subject) const {
    return subject.list != no_list && outstanding_.count(subject.list) != 0;
  }
  inline void pop_oldest(const Subject& subject);
  inline void complete(const Subject& subject, const spec::MessageUnit& message,
                       spec::CompletionStatus status);
  inline void finish(const spec::MessageUnit& message);
  void fail_oldest(const Subject& subject, spec::CompletionStatus status);
  void fail(const Subject& subject, const spec::MessageUnit& message, spec::CompletionStatus status);
  inline bool reclaim();
  inline bool take_ended();

  // Answers.
  inline bool take_answer();
  inline void take(const spec::PacketUnit& answer);
  inline void begin_answer(const Subject& subject, const spec::PacketUnit& unit);
  inline void interpret(uint8_t syndrome);
  inline void continue_answer();
  [[gnu::always_inline]] inline void go_on(const Subject& subject);
  [[gnu::always_inline]] inline void complete_train(const Subject& subject);
  [[gnu::always_inline]] inline bool complete_acknowledged(const Subject& subject,
                                                           const spec::MessageUnit& message);
  inline bool is_used_up(const Subject& subject, const std::optional<spec::MessageUnit>& message) const;
  inline void conclude(const Subject& subject);
  inline void end_answer();
  bool place_answer(const Subject& subject);
  spec::CompletionStatus scatter(const Subject& subject, const spec::MessageUnit& message, uint64_t offset,
                                 const uint8_t* data, uint32_t bytes);
  inline void made_progress(const Subject& subject);

  // End-to-end credits.
  void take_credits(const Subject& subject, const wire::ParsedPacket& answer);
  void take_unsolicited(const Subject& subject, const wire::ParsedPacket& answer);
  void wait_for_credits(const Subject& subject);
  void end_wait(const Subject& subject);
  void ask_for_credits(const Subject& subject);
  bool lacks_credits(const Subject& subject) const;

  // Retries.
  inline bool take_expired();
  void retry(const Subject& subject);
  void retry_gap(const Subject& subject);
  void wait_until_ready(const Subject& subject, uint8_t timer_code);
  void go_back(const Subject& subject);
  void start_timer(const Subject& subject);
  void notify(DataLink<spec::QueuePairNotice>& link, const Subject& subject, spec::QueuePairNoticeKind kind);

  const Clock& clock_;
  const Clock& sampled_clock_;
  uint64_t clock_frequency_;
  std::array<uint64_t, 32> acknowledge_timeouts_{}; // in clock ticks, by code
  Blocks blocks_;
  Links links_;
  Timer timer_;
  bool is_due_ = false;
  HardwareLinkedListQueue<spec::MessageUnit> outstanding_; // index: queue pair
  Answer answer_;

  // The work request whose answer was placed last, with its scatter list.
  struct Scattered {
    bool valid = false;
    uint32_t queue_pair_number = 0;
    uint32_t sequence_number = 0;
    PhysicalCollectBuffer entry;
  };
  Scattered scattered_;
};

} // namespace fpga_verbs::hca
