#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/parameters.h"
#include "hca/memory/context_memory.h"
#include "hca/queue_pair/queue_pair_parts.h"
#include "hca/queue_pair/queue_pair_port.h"
#include "spec/contexts.h"
#include "spec/parameters.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace fpga_verbs::hca {

// The reason why a queue pair is not found.
enum class Absence : uint8_t {
  none,
  unknown,              // no queue pair has this index
  wrong_generation,     // a former queue pair's number
  other_function,       // another function's
  context_memory_fault, // its context could not be read
};

// Queue pair contexts: a write-back cache for context memory, found by index without search.
//
// A number consists of an index and a generation, which advances whenever the index becomes free, so that
// stale numbers are invalid. Data units in flight pin their queue pair: it is neither destroyed nor reset
// before its pin count is zero, and it stays cached. Only if every cached context is pinned, one of them is
// evicted and read again at its next use. References are therefore valid until the next call that finds or
// creates, pinned or not. The eviction is a clock algorithm: a context used since the hand last passed stays.
class QueuePairStateCache final : public QueuePairPort {
public:
  static constexpr uint32_t reserved_indices = 2; // management and general services interface

  QueuePairStateCache(const HcaParameters& parameters, Counters& counters, ContextMemory& context_memory);

  struct Found {
    const QueuePairParts* queue_pair = nullptr;
    Absence absence = Absence::none;

    explicit operator bool() const { return queue_pair != nullptr; }
    const QueuePairParts& operator*() const { return *queue_pair; }
    const QueuePairParts* operator->() const { return queue_pair; }
  };

  // The function's queue pair with this number, including one that waits to become quiet
  // (control.destroying).
  Found find(unsigned underlying_function, uint32_t queue_pair_number) {
    if (Slot* const slot = cached(underlying_function, queue_pair_number)) [[likely]]
      return {.queue_pair = &slot->parts};
    return fetch(underlying_function, queue_pair_number);
  }
  // The queue pair of any function with this number, for packets, which name no function.
  Found find_any(uint32_t queue_pair_number) {
    const Entry* const entry = live_entry(queue_pair_number);
    if (entry == nullptr)
      return {.absence = Absence::unknown};
    if (entry->slot == nullptr) [[unlikely]]
      return fetch(entry->underlying_function, queue_pair_number);
    return {.queue_pair = &use(*entry).parts};
  }
  const spec::QueuePairControl* find_control(unsigned underlying_function,
                                             uint32_t queue_pair_number) override;

  // Mutable access for the only writer; null as find(). Requester part: queue_pair_fetch. Responder part:
  // receive, and descriptor_fetch its receive queue. All parts: modify and reset, by resource_manager.
  SendQueueState* requester(unsigned underlying_function, uint32_t queue_pair_number) {
    QueuePairParts* const found = parts(underlying_function, queue_pair_number);
    return found != nullptr ? &found->requester : nullptr;
  }
  ReceiveQueueState* responder(unsigned underlying_function, uint32_t queue_pair_number) {
    QueuePairParts* const found = parts(underlying_function, queue_pair_number);
    return found != nullptr ? &found->responder : nullptr;
  }
  // The transport context that the queue pair's work goes through; each of its parts has one writer.
  std::optional<TransportContext> transport(unsigned underlying_function, uint32_t queue_pair_number) {
    QueuePairParts* const found = parts(underlying_function, queue_pair_number);
    return found != nullptr ? std::optional(found->transport()) : std::nullopt;
  }
  QueuePairParts* parts(unsigned underlying_function, uint32_t queue_pair_number) {
    Slot* slot = cached(underlying_function, queue_pair_number);
    if (slot == nullptr) [[unlikely]] {
      if (!fetch(underlying_function, queue_pair_number))
        return nullptr;
      slot = directory_[index_of(queue_pair_number)].slot;
    }
    slot->dirty = true;
    return &slot->parts;
  }

  // Adds a data unit's reference to the queue pair, or those of several. False: it is gone or waits to become
  // quiet; drop the unit.
  bool pin(uint32_t queue_pair_number, size_t units = 1) {
    Entry* const entry = live_entry(queue_pair_number);
    if (entry == nullptr || entry->quiescing)
      return false;
    entry->pins = static_cast<uint16_t>(entry->pins + units);
    return true;
  }
  // The same for a packet, which names no function: returns that of the queue pair. Nothing instead of false.
  std::optional<unsigned> pin_any(uint32_t queue_pair_number) {
    Entry* const entry = live_entry(queue_pair_number);
    if (entry == nullptr || entry->quiescing)
      return std::nullopt;
    ++entry->pins;
    return entry->underlying_function;
  }

  // Removes a reference, or several. No effect if the queue pair is gone: a reset of its function removed the
  // pins.
  void unpin(uint32_t queue_pair_number, size_t units = 1) {
    Entry* const entry = live_entry(queue_pair_number);
    if (entry == nullptr)
      return;
    assert(entry->pins >= units);
    entry->pins = static_cast<uint16_t>(entry->pins - units);
    if (entry->pins == 0 && (entry->quiescing || entry->watched)) [[unlikely]]
      become_quiet(index_of(queue_pair_number));
  }
  uint32_t pins(uint32_t queue_pair_number) const;

  // Moves a failed queue pair to ERR. False: it already was in ERR, or it is gone.
  bool enter_error(unsigned underlying_function, uint32_t queue_pair_number);

  // Moves a queue pair of an unreliable service to SQE after a send work request has failed. False: it
  // already was in SQE or ERR, or it is gone.
  bool enter_send_queue_error(unsigned underlying_function, uint32_t queue_pair_number);

  // Records whether a send work request has failed; later ones are then flushed.
  void set_send_error(unsigned underlying_function, uint32_t queue_pair_number, bool failed);

  // Queue pairs that have stopped, in order: they have failed, or wait to become quiet. completion takes them
  // and ends their outstanding messages.
  struct Named {
    unsigned underlying_function = 0;
    uint32_t queue_pair_number = 0;
  };
  std::optional<Named> take_ended();
  bool has_ended() const { return ended_list_.first != none; }
  void on_ended(Waker ended) { ended_ = ended; }

  // For resource_manager. Makes the next create() use a number that `accepts` returns true for. False: there
  // is none.
  bool choose_number(const std::function<bool(uint32_t)>& accepts);
  // Creates a queue pair in the state of `control`, and fills in owner, generation and
  // valid. Returns its number; nothing: all are in use, or context memory could not store the evicted
  // context. `requester` and `responder` are as after reset.
  std::optional<uint32_t> create(unsigned underlying_function, const spec::QueuePairControl& control);
  // Restores requester and responder to their state after creation.
  static void reset_requester_and_responder(QueuePairParts& queue_pair);
  // Permits no new pin until the queue pair is destroyed or resumed. When no pin is left, take_quiet()
  // returns it, and the waker is woken.
  void quiesce(uint32_t queue_pair_number);
  // Makes take_quiet() return the queue pair when no pin is left, with new pins allowed: drained.
  void watch(uint32_t queue_pair_number);
  // The same for a queue pair without a pin, after it has had one again.
  void watch_next(uint32_t queue_pair_number);
  std::optional<Named> take_quiet();
  void resume(uint32_t queue_pair_number);
  // Destroys a queue pair without pins and frees its index.
  void destroy(uint32_t queue_pair_number);

  void on_quiet(Waker quiet) { quiet_ = quiet; }

  // Returns the function's queue pair with the lowest index from `index` on, and moves `index` behind it;
  // nothing: none is left. A scan, for failures.
  std::optional<uint32_t> take_next(unsigned underlying_function, uint32_t& index) const;

  // The queue pair at an index, for observers: a copy, which leaves the cache unchanged. Nothing: there is
  // none, or its context could not be read.
  uint32_t indices() const { return index_count_; }
  struct Copy {
    uint32_t number = 0;
    unsigned underlying_function = 0;
    QueuePairParts parts;
  };
  bool is_of(uint32_t index, uint32_t functions) const {
    return directory_[index].is_live() && (functions >> directory_[index].underlying_function & 1) != 0;
  }
  std::optional<Copy> copy_at(uint32_t index);

  uint32_t queue_pairs_free() const { return free_count_; }

  // Removes the queue pairs of a function, or of the device, including their pins.
  void reset_function(unsigned underlying_function);
  void reset();

  // For tests: every index is either free or in use, once, and lists and cached contexts agree with the
  // directory.
  const char* verify() const;

private:
  static constexpr uint32_t none = ~uint32_t{0};
  static constexpr uint8_t no_function = 0xff;
  static constexpr uint32_t index_mask = (uint32_t{1} << spec::queue_pair_index_bits) - 1;

  static constexpr uint32_t index_of(uint32_t queue_pair_number) { return queue_pair_number & index_mask; }

  struct Slot {
    QueuePairParts parts;
    uint32_t index = none;
    bool dirty = false;
    bool used = false; // since the hand has passed
  };
  // State of an index apart from its context.
  struct Entry {
    Slot* slot = nullptr;     // of its cached context
    uint32_t live_number = 0; // of its queue pair; below reserved_indices: there is none
    uint32_t next = none;     // in the free list or the list of the quiet
    uint32_t next_ended = none;
    uint32_t ended_number = 0; // of the queue pair that has ended; it may be gone
    uint16_t pins = 0;
    uint8_t generation = 0;
    uint8_t underlying_function = 0;
    uint8_t cached_function = no_function; // the function of a queue pair whose context is cached
    bool quiescing = false;
    bool watched = false;
    bool quiet : 1 = false; // in the list of the quiet
    bool ended : 1 = false; // in the list of the ended

    bool is_live() const { return live_number >= reserved_indices; }
    void put_in(Slot* context) {
      slot = context;
      cached_function = context != nullptr ? underlying_function : no_function;
    }
  };
  struct List {
    uint32_t first = none;
    uint32_t last = none;
  };

  // The entry that the lowest bits name is that of the number only if it has this number: then it is live, as
  // an entry without a queue pair has a number that leads to another entry.
  const Entry& entry_of(uint32_t queue_pair_number) const {
    return directory_[queue_pair_number & directory_mask_];
  }
  const Entry* live_entry(uint32_t queue_pair_number) const {
    const Entry& entry = entry_of(queue_pair_number);
    return entry.live_number == queue_pair_number ? &entry : nullptr;
  }
  Entry* live_entry(uint32_t queue_pair_number) {
    return const_cast<Entry*>(std::as_const(*this).live_entry(queue_pair_number));
  }
  // The slot of an existing, cached queue pair, otherwise null.
  Slot* cached(unsigned underlying_function, uint32_t queue_pair_number) {
    const Entry& entry = entry_of(queue_pair_number);
    if (entry.live_number != queue_pair_number || entry.cached_function != underlying_function)
      return nullptr;
    return &use(entry);
  }
  Slot& use(const Entry& entry) {
    ++counters_.device.queue_pair_cache_hits;
    entry.slot->used = true;
    return *entry.slot;
  }
  [[gnu::noinline]] Found fetch(unsigned underlying_function, uint32_t queue_pair_number);
  Absence absence(unsigned underlying_function, uint32_t queue_pair_number) const;
  bool is_context_of(const QueuePairParts& parts, const Entry& entry) const;
  Slot* take_slot(uint32_t index);
  Slot& victim();
  void give_up_slot(uint32_t index);
  void become_quiet(uint32_t index);
  void end(uint32_t index);
  void free_index(uint32_t index);
  static uint8_t next_generation(uint32_t index, uint8_t generation);

  void append_index(List& list, uint32_t index);
  uint32_t take_index(List& list);

  Counters& counters_;
  ContextMemory& context_memory_;
  uint32_t index_count_;
  std::vector<Entry> directory_; // by index; those from index_count_ on, up to a power of two, are never live
  uint32_t directory_mask_ = static_cast<uint32_t>(directory_.size()) - 1;
  std::vector<Slot> slots_;
  size_t hand_ = 0; // the slot that is looked at next for room
  List free_;       // indices; the one longest free is taken first
  List quiet_list_;
  List ended_list_;
  uint32_t free_count_ = 0;
  Waker quiet_;
  Waker ended_;
};

} // namespace fpga_verbs::hca
