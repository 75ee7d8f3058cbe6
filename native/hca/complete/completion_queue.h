#pragma once

#include "hca/base/bit_mask.h"
#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/data_unit_counts.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/base/watch_port.h"
#include "hca/complete/deadlines.h"
#include "hca/memory/memory_translation.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "spec/mailboxes.h"
#include "spec/parameters.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// The completion queues of all functions, and the only writer of their entries (CQEs). A queue is a circular
// buffer in host memory (US6725296). The device's tail is the position of the next entry; the host's head, a
// record in memory, only shows whether there is room. A queue that is full or that DMA cannot reach stays in
// the error state: the device overwrites nothing, and its queue pairs fail (InfiniBand volume 1, 11.6.3.1).
class CompletionQueue final : public Block {
public:
  static constexpr unsigned largest_entries_log2 = 15;
  static_assert(spec::queue_entries_maximum == 1u << largest_entries_log2);
  static constexpr uint32_t reserved_numbers = 1; // 0 names none

  CompletionQueue(const HcaParameters& parameters, Counters& counters, HostPort& host, const Clock& clock,
                  MemoryTranslation& translation, QueuePairStateCache& queue_pairs, EventPort& events);

  // Number of pages of a queue of 2^entries_log2 entries. With variable entries its references come first,
  // and the entries start on the next page.
  static constexpr uint32_t pages(unsigned entries_log2, bool variable) {
    return entry_pages(entries_log2) + (variable ? reference_pages(entries_log2) : 0);
  }

  // Writes an entry and fills in phase, sequence and time stamp; then raises the event if the queue is armed
  // for it. False: the function has no such queue (0: none is wanted), or it is in error; the entry is
  // dropped, and counted unless none is wanted. This is a method instead of a link because an entry is larger
  // than a data unit, and the writer must not wait for a credit while it holds a resource that the host waits
  // for.
  bool write(unsigned underlying_function, uint32_t completion_queue_number,
             spec::CompletionQueueEntry& entry);

  // Arms a queue for one event: at the next entry, or at once if there are entries beyond the host's head;
  // solicited: only for entries that request it and for failures. Any overrides solicited. The device ignores
  // a request with the sequence of the last event, because the host has not seen that event yet; each queue
  // thus has at most one event in flight. False: the function has no such queue.
  bool arm(unsigned underlying_function, spec::underlying_function::CompletionQueueArm request);

  // Sets the moderation of an existing queue. Once armed, the queue raises its event with the entry number
  // `count` since the arming, or `period` microseconds after the first of them, whichever is earlier; if
  // either is 0, with the first. Entries that were beyond the host's head at the arming count too, and the
  // period then begins with the arming; if the arming asks for solicited entries only, they count as one.
  void moderate(uint32_t completion_queue_number, uint32_t count, uint32_t period);

  // For resource_manager. Creates a queue whose pages the host has cleared; `page_table` is a table of
  // memory_translation with input.pages() pages. Returns its number, from 1 on; nothing: all are in use.
  std::optional<uint32_t> create(unsigned underlying_function, const spec::CreateCompletionQueueInput& input,
                                 uint32_t page_table);
  bool exists(unsigned underlying_function, uint32_t completion_queue_number) const;
  bool is_in_error(uint32_t completion_queue_number) const {
    return queues_[completion_queue_number].in_error;
  }
  // Counts send and receive queues that use a queue; number 0 means none.
  void add_user(uint32_t completion_queue_number) { ++queues_[completion_queue_number].users; }
  void remove_user(uint32_t completion_queue_number) { --queues_[completion_queue_number].users; }
  uint32_t users(uint32_t completion_queue_number) const { return queues_[completion_queue_number].users; }
  // The tail of an existing queue.
  uint32_t tail(uint32_t completion_queue_number) const { return queues_[completion_queue_number].tail; }
  // Gives an existing queue the pages of `page_table`, for 2^entries_log2 entries; the device writes all
  // later entries there and continues their numbers. On success, `page_table` becomes the former table.
  // Otherwise nothing changes: bad_state, the queue is in error; mailbox_fault, its head cannot be read;
  // bad_parameter, more entries are beyond the head than fit.
  spec::ManagementStatus resize(uint32_t completion_queue_number, unsigned entries_log2,
                                uint32_t& page_table);
  bool is_variable(uint32_t completion_queue_number) const {
    return queues_[completion_queue_number].variable;
  }
  // Destroys an existing queue without users and returns its page table to the caller.
  uint32_t destroy(uint32_t completion_queue_number);

  // Fails the next queue pair of a failed queue, or raises the next event whose period is over. The device
  // wakes the block at next_deadline().
  bool step() override;

  // The clock tick at which a moderated event may be due; ~0 if there is none.
  uint64_t next_deadline() const { return deadlines_.next(); }

  // The data units that leave this block are the CQEs written.
  void count_data_units(DataUnitCounts& counts) const {
    counts.add(spec::control::data_units_completion_queue, count_);
  }

  // Waker for a queue that fails.
  void on_failed(Waker failed) { failed_waker_ = failed; }

  // Removes the queues of a function; memory_translation reclaims their page tables.
  void reset_function(unsigned underlying_function);

  // Passes entries of functions, one bit each, to a port as well.
  void watch(WatchPort* port, uint32_t functions) {
    watch_ = port;
    watched_ = functions;
  }

  // For tests: the first inconsistency of the block's state, or null.
  const char* verify() const;

private:
  enum class Armed : uint8_t { no, solicited, any };
  static constexpr uint8_t no_sequence = 0xff; // arm sequences have 7 bits
  static constexpr uint32_t no_page = ~uint32_t{0};

  struct Queue {
    bool exists = false;
    bool in_error = false;
    bool variable = false;
    Armed armed = Armed::no;
    uint8_t underlying_function = 0;
    uint8_t event_queue = 0;
    uint8_t entries_log2 = 0;
    uint8_t arm_sequence = 0;
    uint8_t event_sequence = no_sequence; // arm sequence of the last event
    uint32_t page_table = 0;
    uint32_t page = no_page; // of the table, that was written last
    uint64_t page_address = 0;
    uint32_t head = 0;      // the host's, as of the last time it was told or read
    uint32_t tail = 0;      // entries written, free-running
    uint32_t solicited = 0; // tail after the newest entry that a solicited arming waits for
    uint32_t users = 0;
    uint32_t moderation_count = 0; // 0: events are not moderated
    uint32_t awaited = 0;          // entries since it was armed that the arming waits for
    uint64_t moderation_ticks = 0;
    uint64_t head_address = 0;
    uint64_t user_handle = 0;
  };

  static constexpr uint32_t entry_pages(unsigned entries_log2) {
    return ((spec::CompletionQueueEntry::bytes << entries_log2) + spec::page_bytes - 1) / spec::page_bytes;
  }
  static constexpr uint32_t reference_pages(unsigned entries_log2) {
    return ((spec::CompletionQueueReference::bytes << entries_log2) + spec::page_bytes - 1) /
           spec::page_bytes;
  }

  inline bool has_room(Queue& queue);
  bool read_head(Queue& queue);
  void believe(Queue& queue, uint32_t head);
  inline bool write_entry(Queue& queue, spec::CompletionQueueEntry& entry);
  inline bool write_at(Queue& queue, uint32_t offset, const void* source, uint32_t bytes);
  void report_fault(const Queue& queue, uint64_t address);
  void fail(uint32_t completion_queue_number);
  void signal(uint32_t completion_queue_number);
  void await(uint32_t completion_queue_number, uint32_t awaited);
  void fail_queue_pair(unsigned underlying_function, uint32_t queue_pair_number);

  uint64_t clock_frequency_;
  Counters& counters_;
  HostPort& host_;
  const Clock& clock_;
  MemoryTranslation& translation_;
  QueuePairStateCache& queue_pairs_;
  EventPort& events_;
  uint32_t queue_count_;
  std::vector<Queue> queues_; // by number
  BitMask free_;
  Deadlines deadlines_;     // of moderated events
  BitMask failed_;          // queues whose queue pairs have not all failed yet
  uint32_t failing_ = 0;    // the one of these whose queue pairs fail now; 0: none
  uint32_t next_index_ = 0; // of the queue pair to look at for it
  Waker failed_waker_;
  uint64_t count_ = 0;
  WatchPort* watch_ = nullptr;
  uint32_t watched_ = 0; // functions
};

} // namespace fpga_verbs::hca
