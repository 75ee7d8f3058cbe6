#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/memory/memory_translation.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/shared_receive_queues.h"
#include "hca/send_queue/queue_reader.h"
#include "spec/contexts.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// Location of a receive work request in the receive entry area of its queue.
struct ReceiveDescriptor {
  uint16_t sequence_number = 0;
  uint16_t length = 0; // bytes
  uint32_t offset = 0; // bytes
};

// Fetches descriptors of receive queues from host memory (US6789143, references to work queue entries). The
// only writer of the fields receive_* of ReceiveQueueState, and of the positions of shared receive
// queues. The host stores a queue's tail behind the entries. The block rereads the tail before the tail would
// truncate a cache line of references; it therefore always rereads it before it treats a queue as empty, and
// before the limit event of a shared queue.
//
// A block that needs a receive work request takes it at once if its reference is prefetched; otherwise it
// asks, and gets the answer after a read of host memory. The questions of each queue pair are answered in
// order and wait for no other queue pair.
class DescriptorFetch final : public Block {
public:
  DescriptorFetch(const HcaParameters& parameters, Counters& counters, HostPort& host,
                  QueuePairStateCache& queue_pairs, SharedReceiveQueues& shared_receive_queues,
                  MemoryTranslation& translation, EventPort& events,
                  DataLink<spec::QueuePairNotice>& descriptors_wanted,
                  DataLink<spec::QueuePairNotice>& descriptors_fetched);

  // Takes the next receive work request of a queue pair if its reference is prefetched and valid. False: ask
  // on descriptors_wanted.
  bool take_prefetched(unsigned underlying_function, uint32_t queue_pair_number) {
    QueuePairParts* const queue_pair = queue_pairs_.parts(underlying_function, queue_pair_number);
    return queue_pair != nullptr && take_prefetched(underlying_function, queue_pair_number, *queue_pair);
  }

  // The same for a queue pair that the caller has looked up, and reads host memory if necessary, unless an
  // earlier question waits: an empty list is passed by. none: none is posted, or the queue pair has failed;
  // later: ask on descriptors_wanted.
  enum class Answer : uint8_t { taken, none, later };
  Answer take_at_once(unsigned underlying_function, uint32_t queue_pair_number, QueuePairParts& queue_pair);
  // Until it is allowed, take_at_once() reads no host memory.
  void allow_at_once(bool allowed) { is_at_once_ = allowed; }

  // Takes one question, and answers one: the next receive work request was taken; or none is posted; or the
  // queue pair is gone; or its receive queue is unreadable or inconsistent, in which case the queue pair
  // enters ERR, with the event queue_pair_fatal. A shared receive queue is then in error for all queue pairs,
  // with the event shared_receive_queue_error. Also checks one limit that was set.
  bool step() override;

  // The receive work request taken last, for the message that is being received.
  static ReceiveDescriptor taken(const ReceiveQueueState& responder) {
    return {.sequence_number = static_cast<uint16_t>(responder.receive_entry_number()),
            .length = static_cast<uint16_t>(responder.receive_entry_length()),
            .offset = responder.receive_entry_offset()};
  }

  // Register receive_doorbell of a function. Its tail saves a read of the tail in memory. The block ignores a
  // tail that is not ahead of its copy, or claims more than the queue holds, and uses the tail in memory. In
  // ERR the doorbell requests a flush; of a queue pair whose peer has used up its credits, an unsolicited
  // ACK. A shared queue has neither, and always uses the tail in memory. False: there is no such queue.
  bool doorbell(unsigned underlying_function, spec::underlying_function::ReceiveDoorbell doorbell);

  // A queue pair whose doorbell concerns receive, oldest first; receive is woken when there is one. By now it
  // may be gone, or in another state.
  struct RungDoorbell {
    unsigned underlying_function = 0;
    uint32_t queue_pair_number = 0;
  };
  std::optional<RungDoorbell> take_doorbell();
  bool has_doorbell() const { return first_doorbell_ != none; }
  void on_doorbell(Waker waker) { waker_ = waker; }

  // For tests: the first inconsistency, or null.
  const char* verify() const { return queue_.verify(); }
  ScrubbedQueue* scrubbed_queue() { return &queue_; }

private:
  static constexpr size_t entries = 256;         // of a queue pair that waits there is one question
  static constexpr uint32_t line_references = 8; // 64 B: what one DMA reads
  static constexpr size_t lines = 64;
  static constexpr uint32_t none = ~uint32_t{0};

  // The state that a queue pair's own receive queue and a shared one have in common.
  struct Queue {
    uint32_t number = 0;
    bool is_shared = false;
    uint32_t entries = 0;
    uint32_t pages = 0; // page table of the references
    uint32_t entry_bytes = 0;
    uint64_t tail_address = 0;
    uint32_t head = 0;
    uint32_t tail = 0;
    uint32_t prefetched = 0;
  };
  // References of one queue, by their position in a cache line; `prefetched` marks the valid ones.
  struct Line {
    uint32_t tag = none;
    std::array<spec::WorkQueueReference, line_references> references{};
  };
  struct WaitingDoorbell {
    uint32_t next = none; // index of a queue pair
    uint32_t queue_pair_number = none;
    uint8_t underlying_function = 0;
    bool waits = false;
  };

  inline bool take_wanted();
  inline bool answer_next();
  void answer(const spec::QueuePairNotice& wanted);
  bool take_prefetched(unsigned underlying_function, uint32_t queue_pair_number, QueuePairParts& queue_pair);
  [[gnu::always_inline]] inline bool take(unsigned underlying_function, uint32_t queue_pair_number,
                                          QueuePairParts& queue_pair);
  inline static Queue own_queue(uint32_t queue_pair_number, const QueuePairParts& queue_pair);
  static Queue queue_of(uint32_t number, const SharedReceiveQueue& shared);
  inline static void keep(const Queue& queue, ReceiveQueueState& responder, SharedReceiveQueue* shared);
  inline static bool take_from(const Line& line, Queue& queue, ReceiveQueueState& responder);
  inline Line& line_of(const Queue& queue);
  inline spec::Refusal take_next(unsigned underlying_function, Queue& queue, ReceiveQueueState& responder,
                                 bool& taken);
  [[gnu::always_inline]] inline spec::Refusal prefetch(unsigned underlying_function, Queue& queue,
                                                       Line& line);
  inline spec::Refusal read_tail(unsigned underlying_function, Queue& queue);
  inline bool look_at_armed();
  void look_at_limit(unsigned underlying_function, uint32_t number, SharedReceiveQueue& shared);
  void fail(unsigned underlying_function, uint32_t queue_pair_number, spec::Refusal refusal,
            uint32_t sequence_number);
  void fail_shared(unsigned underlying_function, uint32_t number, SharedReceiveQueue& shared,
                   spec::Refusal refusal);
  void report(spec::EventType type, unsigned underlying_function, uint32_t object, spec::Refusal refusal,
              uint32_t detail);
  void pass_on(unsigned underlying_function, uint32_t queue_pair_number);

  QueueReader reader_;
  QueuePairStateCache& queue_pairs_;
  SharedReceiveQueues& shared_receive_queues_;
  EventPort& events_;
  DataLink<spec::QueuePairNotice>& descriptors_wanted_;
  DataLink<spec::QueuePairNotice>& descriptors_fetched_;
  HardwareLinkedListQueue<spec::QueuePairNotice> queue_; // index: queue pair
  std::array<Line, lines> lines_;                        // by the low bits of the queue's index
  std::vector<WaitingDoorbell> doorbells_;               // by index of the queue pair
  uint32_t first_doorbell_ = none;
  uint32_t last_doorbell_ = none;
  Waker waker_;
  bool is_at_once_ = false;
};

} // namespace fpga_verbs::hca
