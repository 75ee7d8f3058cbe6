#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/base/watch_port.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/mailboxes.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <array>
#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

class MemoryTranslation;

// The event queues of all functions: rings of 32 B entries in host memory, each with its own MSI-X vector.
// Queue 0 of a function gets the asynchronous events. An entry is written before its interrupt. An event
// without room is dropped, counted, and reported in the next entry (`lost`). An observing queue gets copies
// of asynchronous events; what it loses counts for itself alone.
class EventQueue final : public Block, public EventPort {
public:
  static constexpr unsigned smallest_entries_log2 = 1;
  static constexpr unsigned largest_entries_log2 = 15;

  EventQueue(const HcaParameters& parameters, Counters& counters, HostPort& host, const Clock& clock,
             MemoryTranslation& translation);

  // Pages of a queue of 2^entries_log2 entries.
  static constexpr uint32_t pages(unsigned entries_log2) {
    return ((spec::EventQueueEntry::bytes << entries_log2) + spec::page_bytes - 1) / spec::page_bytes;
  }

  // Creates an unarmed queue whose pages the host has cleared. `page_table` is a table of memory_translation
  // with input.pages() pages. bad_parameter: number, size, pages or head address out of range; in_use: it
  // exists.
  spec::ManagementStatus create(unsigned underlying_function, const spec::CreateEventQueueInput& input,
                                uint32_t page_table);

  // Destroys a queue and returns its page table to the caller; nothing: there is no such queue.
  std::optional<uint32_t> destroy(unsigned underlying_function, unsigned event_queue);

  // Arms a queue for one interrupt, which is raised at once if there are entries beyond the host's head. No
  // effect if the queue does not exist.
  void arm(unsigned underlying_function, unsigned event_queue);

  // Always accepts an event. While the event of an affiliated asynchronous error is unread, the same error of
  // the same object is not written again.
  void report(const spec::EventUnit& event) override;

  // Passes the asynchronous events of functions, one bit each, to a port as well.
  void watch(WatchPort* port, uint32_t functions) {
    watch_ = port;
    watched_ = functions;
    follow_observers();
  }

  // Raises the interrupts whose moderation time has passed; woken at next_deadline().
  bool step() override;

  // The clock tick at which the next moderated interrupt is due; ~0: none.
  uint64_t next_deadline() const { return deadline_; }

  // Removes the queues of a function; memory_translation reclaims their page tables.
  void reset_function(unsigned underlying_function);

  // For tests: the first inconsistency of the block's state, or null.
  const char* verify() const;

private:
  struct Queue {
    bool exists = false;
    bool armed = false;
    bool observes = false;
    uint8_t entries_log2 = 0;
    uint16_t moderation_count = 0;
    uint32_t page_table = 0;
    uint32_t head = 0;     // the host's, as of the last time it was read
    uint32_t tail = 0;     // entries written, free-running
    uint32_t signaled = 0; // tail at the last interrupt
    uint32_t lost = 0;     // events lost since the last entry
    uint64_t moderation_ticks = 0;
    uint64_t head_address = 0;
    uint64_t deadline = ~uint64_t{0}; // of the moderated interrupt
  };

  // An affiliated asynchronous error that was written, by a hash of type, function and object.
  struct UnreadError {
    bool valid = false;
    spec::EventType type = spec::EventType::completion_queue_error;
    uint8_t underlying_function = 0;
    uint8_t event_queue = 0;
    uint32_t object = 0;
    uint32_t number = 0; // of the entry
  };

  static constexpr unsigned queues_ = spec::underlying_functions * spec::event_queues_per_function;
  static_assert(queues_ <= 64, "timed_ has a bit for each queue");

  Queue& queue(unsigned underlying_function, unsigned event_queue);
  UnreadError& unread_error(const spec::EventUnit& event);
  bool is_unread(const spec::EventUnit& event);
  void read_head(unsigned underlying_function, Queue& queue);
  bool has_room(unsigned underlying_function, Queue& queue);
  void follow_observers();
  void tell_observers(const spec::EventUnit& event) {
    if ((observed_ >> event.underlying_function() & 1) != 0)
      write_to_observers(event);
  }
  void write_to_observers(const spec::EventUnit& event);
  void copy_to_observing(unsigned underlying_function, const spec::EventUnit& event);
  bool write(unsigned underlying_function, Queue& queue, const spec::EventUnit& event);
  spec::EventQueueEntry entry_of(const spec::EventUnit& event) const;
  bool write_entry(unsigned underlying_function, Queue& queue, const spec::EventUnit& event);
  void moderate(unsigned index);
  void signal(unsigned index);
  void set_deadline(unsigned index, uint64_t deadline);

  const HcaParameters& parameters_;
  Counters& counters_;
  HostPort& host_;
  const Clock& clock_;
  MemoryTranslation& translation_;
  std::array<Queue, queues_> all_{};
  std::array<UnreadError, 256> unread_errors_{};
  uint64_t timed_ = 0; // queues with a deadline
  uint64_t deadline_ = ~uint64_t{0};
  WatchPort* watch_ = nullptr;
  uint32_t watched_ = 0;   // functions
  uint64_t observing_ = 0; // queues
  uint32_t observed_ = 0;  // functions that either observes
};

} // namespace fpga_verbs::hca
