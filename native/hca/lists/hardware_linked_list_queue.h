#pragma once

#include "hca/base/bit_mask.h"
#include "hca/lists/credit_pool.h"
#include "hca/lists/data_list.h"
#include "hca/lists/data_memory.h"
#include "hca/lists/list_identifier_memory.h"
#include "hca/lists/scrubbed_queue.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// Result of a command of a linked list queue.
enum class LinkedListResult : uint8_t {
  ok,
  full,               // no entry is free: the producer pushed without an inbound credit
  no_entry_credit,    // the underlying function has none of its own and may take no shared one
  no_list_identifier, // the index has no list, and no list identifier is free for it
  list_full,          // the list is at its maximum
  closed,             // the list is being reclaimed
  unknown_list,       // no index has this list identifier
  empty,              // there is no (further) data unit
  not_ready,          // the data unit at the head is not ready
  corrupted,          // the data unit has an uncorrectable bit error
  ready,              // the data unit at the head is ready: it is not discarded as one that is not
};

struct LinkedListQueueParameters {
  size_t entries = 1; // 1 to 4096
  size_t lists = 1;   // list identifiers, 1 to 4096
  ListAddressing addressing = ListAddressing::content_addressed;
  size_t underlying_functions = 1;
  bool ready_on_push = false; // data units need no processing here
};

struct LinkedListQueueCounters {
  uint64_t pushed = 0;
  uint64_t popped = 0;
  uint64_t reclaimed = 0;
  uint64_t dropped_full = 0;
  uint64_t dropped_no_entry_credit = 0;
  uint64_t dropped_no_list_identifier = 0;
  uint64_t dropped_list_full = 0;
  uint64_t dropped_closed = 0;
  uint64_t dropped_corrupted = 0;    // popped or reclaimed, but not readable
  uint64_t corrected_bit_errors = 0; // by a read or the scrubber
  uint64_t detected_bit_errors = 0;  // entries found uncorrectable
};

// Hardware linked list queue (US8804752): many lists in one memory. A data unit joins the list of its index
// (a queue pair, a TVL). The queue creates and removes lists as needed, and each list leaves in order,
// independently of the others. Every command takes constant time.
//
// The queue may use any free entry and any free list identifier. Ready lists take turns: while a list is
// ready, no other gets more than four turns before it. The queue empties closed lists one after the other, in
// the order of closing. The RTL may return full and no_entry_credit although the last entries became free in
// its last three clocks. It may return no_list_identifier if other lists occupy the index's places, although
// identifiers elsewhere are free.
//
// Entry credits divide the entries among underlying functions; initially each may take all of them.
//
// A block executes no data unit with an uncorrectable bit error: before front() or a read returns one, the
// queue has reported it, and the owner, a queue pair, is in error. The block then flushes it, as all that it
// has of that queue pair, and so gives back what identity() refers to.
template <class DataUnit> class HardwareLinkedListQueue final : public ScrubbedQueue {
public:
  using Result = LinkedListResult;

  struct Pushed {
    Result result;
    uint16_t list = no_list;   // set when ok
    uint16_t entry = no_entry; // set when ok
  };

  // A data unit that was read. Corrupted: all fields are set, but the data unit is invalid.
  struct Read {
    Result result;
    uint16_t entry = no_entry;
    uint32_t index = 0;
    DataUnit unit{};
  };

  struct Scrubbed {
    SecdedStatus status;
    uint16_t entry;
  };

  explicit HardwareLinkedListQueue(const LinkedListQueueParameters& parameters)
      : memory_(parameters.entries), data_list_(parameters.entries, parameters.lists),
        identifiers_(parameters.addressing, parameters.lists),
        entry_credits_(parameters.underlying_functions, static_cast<uint32_t>(parameters.entries), 0, 0),
        entries_(parameters.entries), list_ready_(parameters.lists), closed_(parameters.lists),
        closed_order_(parameters.lists), last_granted_(static_cast<uint16_t>(parameters.lists - 1)),
        ready_on_push_(parameters.ready_on_push) {}

  // Inbound credits: the number of data units that the producer may push.
  size_t inbound_credits() const { return data_list_.free_entries(); }

  // Whether the queue has no data unit.
  bool empty() const { return inbound_credits() == data_list_.entries(); }

  // The list of an index, or no_list.
  uint16_t find(uint32_t index) const { return identifiers_.find(index); }

  // Maximum number of data units of a list.
  uint16_t maximum(uint16_t list) const { return data_list_.maximum(list); }

  // Data units on a list.
  uint16_t count(uint16_t list) const { return data_list_.count(list); }

  // The entry at the head of a list, which must not be empty.
  uint16_t head(uint16_t list) const { return data_list_.head(list); }

  // Sets the maximum number of data units of a list, initially the number of entries. It belongs to the list
  // identifier, whatever its index. A maximum below the counter takes effect as data units leave.
  void set_maximum(uint16_t list, uint16_t data_units) { data_list_.set_maximum(list, data_units); }

  // Divides the entry credits: those of one function; the shared ones and the maximum that one function may
  // hold. Each function is guaranteed its own credits if their sum does not exceed the entries.
  void set_entry_credits(unsigned underlying_function, uint32_t credits) {
    entry_credits_.set_own(underlying_function, credits);
  }
  void set_shared_entry_credits(uint32_t credits, uint32_t cap) {
    entry_credits_.set_shared(credits);
    for (size_t function = 0; function < entry_credits_.owners(); ++function)
      entry_credits_.set_shared_cap(function, cap);
  }

  const CreditPool& entry_credits() const { return entry_credits_; }
  bool data_unit_ready(uint16_t entry) const { return entries_[entry].ready; }
  const BitMask& lists_ready() const { return list_ready_; }
  const LinkedListQueueCounters& counters() const { return counters_; }

  // Appends a data unit to the list of `index`, in an entry charged to the underlying function. A refused
  // data unit is dropped: full, no_entry_credit, no_list_identifier, list_full, closed.
  Pushed push(uint32_t index, const DataUnit& unit, unsigned underlying_function = 0) {
    if (inbound_credits() == 0)
      return drop(Result::full, counters_.dropped_full);
    const CreditSource credit = entry_credits_.available(underlying_function);
    if (credit == CreditSource::none)
      return drop(Result::no_entry_credit, counters_.dropped_no_entry_credit);
    const uint16_t list = identifiers_.find_or_allocate(index);
    if (list == no_list)
      return drop(Result::no_list_identifier, counters_.dropped_no_list_identifier);
    if (is_closed(list))
      return drop(Result::closed, counters_.dropped_closed);
    if (data_list_.at_maximum(list)) {
      if (count(list) == 0)
        identifiers_.release(list);
      return drop(Result::list_full, counters_.dropped_list_full);
    }
    entry_credits_.hold(underlying_function, credit);
    const uint16_t entry = data_list_.append(list);
    memory_.write(entry, unit);
    entries_[entry] = {list, static_cast<uint8_t>(underlying_function), credit, ready_on_push_};
    if (ready_on_push_ && data_list_.head(list) == entry)
      list_ready_.set(list);
    ++counters_.pushed;
    return {Result::ok, list, entry};
  }

  // Marks the data unit of an entry as processed: it leaves when it is the first of its list. empty, closed.
  Result mark_ready(uint16_t entry) {
    if (entry >= data_list_.entries() || !data_list_.used(entry))
      return Result::empty;
    if (is_closed(entries_[entry].list))
      return Result::closed;
    set_ready(entry);
    return Result::ok;
  }

  // Marks the data unit of an entry as not processed: its list waits for mark_ready(). empty, closed.
  Result mark_not_ready(uint16_t entry) {
    if (entry >= data_list_.entries() || !data_list_.used(entry))
      return Result::empty;
    const uint16_t list = entries_[entry].list;
    if (is_closed(list))
      return Result::closed;
    entries_[entry].ready = false;
    if (data_list_.head(list) == entry)
      list_ready_.clear(list);
    return Result::ok;
  }

  // Grants a turn to a ready list, round robin, if the consumer has an outbound credit. Returns the list to
  // pop; no_list: none.
  uint16_t arbitrate(size_t outbound_credits) {
    if (outbound_credits == 0 || !list_ready_.any())
      return no_list;
    last_granted_ = static_cast<uint16_t>(list_ready_.find_next(last_granted_));
    return last_granted_;
  }

  // Removes the data unit at the head of a list. unknown_list, closed, empty, not_ready; corrupted: removed,
  // and dropped.
  Read pop(uint16_t list) {
    if (list >= identifiers_.lists() || !list_ready_.test(list)) {
      const Result refusal = access(list);
      return {refusal == Result::ok ? Result::not_ready : refusal};
    }
    return take_head(list, counters_.popped);
  }

  // Removes the data unit at the head of a list, ready or not. unknown_list, closed, empty; corrupted:
  // removed, and dropped.
  Read discard(uint16_t list) {
    if (const Result refusal = access(list); refusal != Result::ok)
      return {refusal};
    return take_head(list, counters_.popped);
  }

  // Removes the data unit at the head of a list if it is not ready. unknown_list, closed, empty, ready;
  // corrupted: removed, and dropped.
  Read discard_not_ready(uint16_t list) {
    if (const Result refusal = access(list); refusal != Result::ok)
      return {refusal};
    if (list_ready_.test(list))
      return {Result::ready};
    return take_head(list, counters_.popped);
  }

  // Reads the next data unit of a list after the peek pointer without removing it. unknown_list, closed,
  // empty, corrupted.
  Read peek(uint16_t list) {
    if (const Result refusal = access(list); refusal != Result::ok)
      return {refusal};
    const uint16_t entry = data_list_.peek_pointer(list);
    if (entry == no_entry)
      return {Result::empty};
    data_list_.advance_peek_pointer(list);
    return read_entry(list, entry);
  }

  // Reads the data unit at the head of a nonempty list without removing it: reset_peek_pointer() and peek()
  // in one. If it is uncorrectable: its identity, after the report.
  DataUnit front(uint16_t list) {
    bool is_corrupted = false;
    return front(list, is_corrupted);
  }
  // Sets `is_corrupted` if it is.
  DataUnit front(uint16_t list, bool& is_corrupted) {
    assert(count(list) != 0 && !is_closed(list)); // with a data unit, it is assigned
    const uint16_t entry = data_list_.peek_at_head(list);
    if (memory_.flawed(entry)) [[unlikely]]
      is_corrupted = look_at(entry) == SecdedStatus::uncorrectable;
    return memory_.identity(entry);
  }

  // Removes the data unit that front() has returned, ready or not.
  void pop_front(uint16_t list) {
    assert(count(list) != 0 && !is_closed(list));
    ++counters_.popped;
    if (const uint16_t entry = data_list_.head(list); memory_.flawed(entry)) [[unlikely]]
      count_dropped(entry);
    remove_head(list);
  }

  // The data unit that was read from an entry, corrupted or not, until the entry is written again: to give
  // back what it refers to.
  const DataUnit& identity(uint16_t entry) const { return memory_.identity(entry); }

  // Moves the peek pointer back to the head. unknown_list, closed, empty.
  Result reset_peek_pointer(uint16_t list) {
    const Result refusal = access(list);
    if (refusal == Result::ok)
      data_list_.reset_peek_pointer(list);
    return refusal;
  }

  // Closes a list; reclaim_step() then empties it, and it opens again. unknown_list, closed (already), empty.
  Result reclaim(uint16_t list) {
    const Result refusal = access(list);
    if (refusal == Result::ok) {
      closed_.set(list);
      list_ready_.clear(list);
      closed_order_[(first_closed_ + closed_lists_) % closed_order_.size()] = list;
      ++closed_lists_;
    }
    return refusal;
  }

  bool reclaiming() const { return closed_lists_ != 0; }

  // One step of reclaiming: frees one entry of the list that was closed first, and returns the data unit so
  // that the block can release the resources that it refers to. empty: no list is closed; corrupted.
  Read reclaim_step() {
    if (closed_lists_ == 0)
      return {Result::empty};
    const uint16_t list = closed_order_[first_closed_];
    const Read read = take_head(list, counters_.reclaimed);
    if (!closed_.test(list)) {
      first_closed_ = first_closed_ + 1 == closed_order_.size() ? 0 : first_closed_ + 1;
      --closed_lists_;
    }
    return read;
  }

  // One clock of the scrubber: checks the next entry, and corrects it in memory. An uncorrectable entry is
  // counted once and keeps its place in its list.
  Scrubbed scrub_step() {
    const uint16_t entry = next_scrubbed_;
    next_scrubbed_ = static_cast<uint16_t>(entry + 1U == data_list_.entries() ? 0 : entry + 1U);
    return scrub_entry(entry);
  }

  // The same for a given entry.
  Scrubbed scrub_entry(uint16_t entry) {
    const SecdedStatus status = data_list_.used(entry) ? memory_.scrub(entry) : SecdedStatus::clean;
    count_error(entry, status);
    return {status, entry};
  }

  // Flips a stored bit of an entry: bits 0 to 63 are data and 64 to 71 check bits of its first word, and so
  // on.
  void inject_error(uint16_t entry, size_t bit) { memory_.flip(entry, bit); }

  void report_to(BitErrorPort& errors) override { errors_ = &errors; }
  size_t entry_count() const override { return data_list_.entries(); }
  void scrub_next() override { scrub_step(); }
  size_t held() const override { return data_list_.entries() - data_list_.free_entries(); }
  unsigned owner_of_held(size_t rank) const override { return lost_unit(nth_used(rank)).underlying_function; }
  bool is_flawed(size_t rank) const override { return memory_.flawed(nth_used(rank)); }
  size_t words() const override { return DataMemory<DataUnit>::words; }
  void flip_held(size_t rank, size_t word, size_t bit) override {
    inject_error(nth_used(rank), word * secded_bits + bit);
  }

  // For tests: the first inconsistency, or nullptr.
  const char* verify() const;

private:
  // State of a used entry apart from its position in its list.
  struct alignas(8) Entry { // found by a scaled index
    uint16_t list = no_list;
    uint8_t underlying_function = 0;
    CreditSource credit = CreditSource::none;
    bool ready = false;
  };

  Pushed drop(Result result, uint64_t& counter) {
    ++counter;
    return {result};
  }

  bool is_closed(uint16_t list) const { return closed_lists_ != 0 && closed_.test(list); }

  // Whether the list can be accessed.
  Result access(uint16_t list) const {
    if (!identifiers_.assigned(list))
      return Result::unknown_list;
    if (is_closed(list))
      return Result::closed;
    return count(list) == 0 ? Result::empty : Result::ok;
  }

  Read read_entry(uint16_t list, uint16_t entry) {
    Read read{Result::ok, entry, identifiers_.index(list)};
    const SecdedStatus status = memory_.read(entry, read.unit);
    if (status != SecdedStatus::clean) [[unlikely]]
      count_error(entry, status);
    if (status == SecdedStatus::uncorrectable)
      read.result = Result::corrupted;
    return read;
  }

  // Reads and removes the head of a list, and counts it in `left`.
  Read take_head(uint16_t list, uint64_t& left) {
    const Read read = read_entry(list, data_list_.head(list));
    ++(read.result == Result::ok ? left : counters_.dropped_corrupted);
    remove_head(list);
    return read;
  }

  // Checks an entry with flipped bits, and counts what it finds.
  [[gnu::cold, gnu::noinline]] SecdedStatus look_at(uint16_t entry) {
    const SecdedStatus status = memory_.check(entry);
    count_error(entry, status);
    return status;
  }

  // Counts a popped data unit as dropped if it is uncorrectable.
  [[gnu::cold, gnu::noinline]] void count_dropped(uint16_t entry) {
    if (memory_.check(entry) != SecdedStatus::uncorrectable)
      return;
    --counters_.popped;
    ++counters_.dropped_corrupted;
  }

  [[gnu::cold, gnu::noinline]] void count_error(uint16_t entry, SecdedStatus status) {
    if (status == SecdedStatus::clean)
      return;
    if (status == SecdedStatus::corrected) {
      ++counters_.corrected_bit_errors;
      if (errors_ != nullptr)
        errors_->corrected(lost_unit(entry).underlying_function);
    } else if (memory_.first_report(entry)) {
      ++counters_.detected_bit_errors;
      if (errors_ != nullptr)
        errors_->lost(lost_unit(entry));
    }
  }

  LostDataUnit lost_unit(uint16_t entry) const {
    const DataUnit& unit = memory_.identity(entry);
    if constexpr (requires { unit.queue_pair_number(); })
      return {entry, unit.underlying_function(), unit.queue_pair_number()};
    else
      return {entry, entries_[entry].underlying_function, 0};
  }

  // The entry in use before which there are `rank` others.
  uint16_t nth_used(size_t rank) const {
    uint16_t entry = 0;
    while (!data_list_.used(entry) || rank-- != 0)
      ++entry;
    return entry;
  }

  void set_ready(uint16_t entry) {
    const uint16_t list = entries_[entry].list;
    entries_[entry].ready = true;
    if (data_list_.head(list) == entry)
      list_ready_.set(list);
  }

  // Frees the entry at the head; the next one decides whether the list stays ready. An empty list is removed.
  [[gnu::always_inline]] void remove_head(uint16_t list) {
    Entry& entry = entries_[data_list_.remove_head(list)];
    entry_credits_.give_back(entry.underlying_function, entry.credit);
    entry.ready = false;
    if (count(list) > 0 && !is_closed(list) && entries_[data_list_.head(list)].ready) {
      list_ready_.set(list);
      return;
    }
    list_ready_.clear(list);
    if (count(list) == 0) {
      if (closed_lists_ != 0) [[unlikely]]
        closed_.clear(list);
      identifiers_.release(list);
    }
  }

  DataMemory<DataUnit> memory_;
  DataList data_list_;
  ListIdentifierMemory identifiers_;
  CreditPool entry_credits_;
  std::vector<Entry> entries_;
  BitMask list_ready_;                 // the first data unit of the list is ready
  BitMask closed_;                     // lists being reclaimed
  std::vector<uint16_t> closed_order_; // a ring of them, from first_closed_ on
  size_t first_closed_ = 0;
  size_t closed_lists_ = 0;
  uint16_t last_granted_;
  uint16_t next_scrubbed_ = 0;
  bool ready_on_push_;
  LinkedListQueueCounters counters_;
  BitErrorPort* errors_ = nullptr;
};

template <class DataUnit> const char* HardwareLinkedListQueue<DataUnit>::verify() const {
  std::vector<uint16_t> lists; // of each entry; its number of lists: free
  if (const char* contradiction = data_list_.verify(lists); contradiction != nullptr)
    return contradiction;
  uint64_t used = 0;
  std::vector<std::array<uint32_t, 2>> held(entry_credits_.owners()); // own, shared
  for (uint16_t entry = 0; entry < lists.size(); ++entry) {
    if (!data_list_.used(entry)) {
      if (entries_[entry].ready)
        return "a free entry is marked ready";
      continue;
    }
    ++used;
    const Entry& owner = entries_[entry];
    if (owner.list != lists[entry])
      return "an entry is on another list than the one it was pushed to";
    ++held[owner.underlying_function][owner.credit == CreditSource::shared];
  }
  for (size_t function = 0; function < held.size(); ++function)
    if (held[function][0] != entry_credits_.own_held(function) ||
        held[function][1] != entry_credits_.shared_held(function))
      return "entry credits held are not those of the entries in use";
  for (uint16_t list = 0; list < data_list_.lists(); ++list) {
    const bool occupied = count(list) > 0;
    if (identifiers_.addressing() == ListAddressing::content_addressed &&
        identifiers_.assigned(list) != occupied)
      return "a list identifier is assigned to a list without data units, or the reverse";
    if (identifiers_.assigned(list) && identifiers_.find(identifiers_.index(list)) != list)
      return "the index of a list leads to another list";
    if (closed_.test(list) && !occupied)
      return "a list without data units is closed";
    if (list_ready_.test(list) != (occupied && !closed_.test(list) && entries_[data_list_.head(list)].ready))
      return "a list ready bit differs from the ready bit at the head";
  }
  if (counters_.pushed != counters_.popped + counters_.reclaimed + counters_.dropped_corrupted + used)
    return "data units pushed are not those that left and those that are here";
  return nullptr;
}

} // namespace fpga_verbs::hca
