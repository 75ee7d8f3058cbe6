#pragma once

#include "hca/base/bit_mask.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

inline constexpr uint16_t no_entry = 0xffff;

// Membership and order of the entries of a data memory (US8804752, data list memory and controller): the free
// list, a bit string that marks used entries; the data unit list, each entry's successor; head, tail and peek
// pointers, data unit counter and maximum of each list. It does not access the entries' contents.
class DataList {
public:
  DataList(size_t entries, size_t lists)
      : free_(entries, true), free_entries_(entries), next_(entries, no_entry), lists_(lists) {
    for (List& list : lists_)
      list.maximum = static_cast<uint16_t>(entries);
  }

  size_t entries() const { return next_.size(); }
  size_t lists() const { return lists_.size(); }
  size_t free_entries() const { return free_entries_; }
  bool used(uint16_t entry) const { return !free_.test(entry); }

  uint16_t head(uint16_t list) const { return lists_[list].head; }
  uint16_t peek_pointer(uint16_t list) const { return lists_[list].peek; }
  uint16_t count(uint16_t list) const { return lists_[list].count; }
  uint16_t maximum(uint16_t list) const { return lists_[list].maximum; }
  bool at_maximum(uint16_t list) const { return lists_[list].count >= lists_[list].maximum; }

  void set_maximum(uint16_t list, uint16_t data_units) { lists_[list].maximum = data_units; }

  // Appends the lowest free entry to the list; at least one entry must be free.
  uint16_t append(uint16_t list) {
    const auto entry = static_cast<uint16_t>(free_.take_first());
    --free_entries_;
    next_[entry] = no_entry;
    List& to = lists_[list];
    (to.count == 0 ? to.head : next_[to.tail]) = entry;
    to.tail = entry;
    if (to.peek == no_entry)
      to.peek = entry;
    ++to.count;
    return entry;
  }

  // Frees the entry at the head of the list, which must not be empty.
  uint16_t remove_head(uint16_t list) {
    List& from = lists_[list];
    assert(from.count > 0);
    const uint16_t entry = from.head;
    from.head = next_[entry];
    if (from.peek == entry)
      from.peek = from.head;
    --from.count;
    free_.set(entry);
    ++free_entries_;
    return entry;
  }

  void advance_peek_pointer(uint16_t list) { lists_[list].peek = next_[lists_[list].peek]; }
  // Both in one; returns the entry at the head of the list, which must not be empty.
  uint16_t peek_at_head(uint16_t list) {
    List& of = lists_[list];
    of.peek = next_[of.head];
    return of.head;
  }
  void reset_peek_pointer(uint16_t list) { lists_[list].peek = lists_[list].head; }

  // For tests: the first inconsistency, or nullptr. `owners` receives each entry's list, or lists() if it is
  // free.
  const char* verify(std::vector<uint16_t>& owners) const;

private:
  struct alignas(16) List { // found by a shift
    uint16_t head = no_entry;
    uint16_t tail = no_entry; // holds only while count > 0
    uint16_t peek = no_entry; // no_entry: all data units have been peeked at
    uint16_t count = 0;
    uint16_t maximum = 0;
  };

  BitMask free_; // the complement of the hardware's bit string, which marks used entries
  size_t free_entries_;
  std::vector<uint16_t> next_;
  std::vector<List> lists_;
};

} // namespace fpga_verbs::hca
