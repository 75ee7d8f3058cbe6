#pragma once

#include "hca/collect/physical_collect_buffer.h"

#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// The VCBs with an incomplete command, oldest first, so that only the oldest needs a timer.
class HalfWrittenList {
public:
  explicit HalfWrittenList(unsigned virtual_collect_buffers) : entries_(virtual_collect_buffers + 1) {
    clear();
  }

  bool empty() const { return entries_[root()].next == root(); }
  uint16_t oldest() const { return entries_[root()].next; } // when not empty
  bool contains(uint16_t buffer) const { return entries_[buffer].next != no_buffer; }

  void append(uint16_t buffer) {
    const uint16_t last = entries_[root()].previous;
    entries_[buffer] = {last, root()};
    entries_[last].next = buffer;
    entries_[root()].previous = buffer;
  }

  // Removes a VCB; no effect if it is not on the list.
  void remove(uint16_t buffer) {
    const Entry entry = entries_[buffer];
    if (entry.next == no_buffer)
      return;
    entries_[entry.previous].next = entry.next;
    entries_[entry.next].previous = entry.previous;
    entries_[buffer] = {};
  }

  void clear() {
    entries_.assign(entries_.size(), {});
    entries_.back() = {root(), root()};
  }

private:
  struct Entry {
    uint16_t previous = no_buffer;
    uint16_t next = no_buffer;
  };

  uint16_t root() const { return static_cast<uint16_t>(entries_.size() - 1); }

  std::vector<Entry> entries_; // by VCB; the last one is the list's head
};

} // namespace fpga_verbs::hca
