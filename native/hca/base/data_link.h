#pragma once

#include "hca/base/block.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

// A port between two blocks: data units against credits. The producer holds one credit for each free entry; a
// push spends it and wakes the consumer, a pop returns it and wakes the producer. Depth is a power of two.
template <class DataUnit, size_t Depth> class DataLink {
  static_assert((Depth & (Depth - 1)) == 0 && Depth > 0);

public:
  void connect(Waker producer, Waker consumer) {
    producer_ = producer;
    consumer_ = consumer;
  }

  size_t credits() const { return Depth - size(); }
  bool has_credit() const { return size() < Depth; }
  bool empty() const { return head_ == tail_; }
  size_t size() const { return tail_ - head_; }

  void push(const DataUnit& unit) {
    assert(has_credit());
    units_[tail_++ % Depth] = unit;
    ++count_;
    consumer_.wake();
  }

  const DataUnit& front() const {
    assert(!empty());
    return units_[head_ % Depth];
  }

  void pop() {
    assert(!empty());
    ++head_;
    producer_.wake();
  }

  void clear() { head_ = tail_; }

  // Data units that have been pushed since the start, and those of them that have left.
  const uint64_t& count() const { return count_; }
  uint64_t left() const { return count_ - size(); }

private:
  std::array<DataUnit, Depth> units_{};
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  uint64_t count_ = 0;
  Waker producer_;
  Waker consumer_;
};

} // namespace fpga_verbs::hca
