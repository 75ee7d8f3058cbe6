#pragma once

#include "hca/base/block.h"

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fpga_verbs::hca {

// A consumer that can process a data unit within the producer's step, if no earlier unit waits.
template <class DataUnit> class UnitTaker {
public:
  virtual ~UnitTaker() = default;
  // no: the unit goes through the link; done; more: taken, and the consumer must step again.
  enum class Taken : uint8_t { no, done, more };
  virtual Taken take_at_once(const DataUnit& unit) = 0;
};

// A port between two blocks: data units against credits. The producer holds one credit for each free entry. A
// push spends a credit and wakes the consumer; a pop returns it, and wakes the producer if it has missed one.
template <class DataUnit> class DataLink {
public:
  // `depth`: entries, a power of two.
  explicit DataLink(uint32_t depth)
      : units_(std::make_unique<DataUnit[]>(depth)), mask_(depth - 1), free_(depth) {
    assert(std::has_single_bit(depth));
  }

  void connect(Waker producer, Waker consumer) {
    producer_ = producer;
    consumer_ = consumer;
  }

  size_t depth() const { return size_t{mask_} + 1; }
  size_t credits() const { return free_; }

  // Whether the producer holds that many credits. If not, the next pop wakes it, and it may ask again.
  bool has_credit(uint32_t wanted = 1) {
    if (wanted <= free_) [[likely]]
      return true;
    want();
    return false;
  }
  // The next pop wakes the producer, whatever it waits for.
  void want() { wanted_ = true; }

  // From now on the consumer may take at once what is handed over while the link is empty. Null: no more.
  void pass_by_to(UnitTaker<DataUnit>* consumer) { taker_ = consumer; }

  // Passes a data unit by the empty link to a consumer that takes it at once, else pushes it.
  void hand_over(const DataUnit& unit) {
    using Taken = typename UnitTaker<DataUnit>::Taken;
    const Taken taken = taker_ != nullptr && empty() ? taker_->take_at_once(unit) : Taken::no;
    if (taken == Taken::no) [[unlikely]]
      return push(unit);
    ++count_;
    if (taken == Taken::more)
      consumer_.wake();
  }

  bool empty() const { return head_ == tail_; }
  size_t size() const { return tail_ - head_; }

  void push(const DataUnit& unit) {
    assert(free_ != 0);
    --free_;
    units_[tail_++ & mask_] = unit;
    ++count_;
    consumer_.wake();
  }

  const DataUnit& front() const {
    assert(!empty());
    return units_[head_ & mask_];
  }

  // The data unit after `ahead` others, for tests and for blocks that must see all.
  const DataUnit& peek(size_t ahead) const {
    assert(ahead < size());
    return units_[(head_ + ahead) & mask_];
  }

  void pop() {
    assert(!empty());
    ++head_;
    ++free_;
    if (wanted_) [[unlikely]] {
      wanted_ = false;
      producer_.wake();
    }
  }

  void clear() {
    head_ = tail_;
    free_ = mask_ + 1;
  }

  // Data units pushed since the start, and how many of them have left.
  const uint64_t& count() const { return count_; }
  uint64_t left() const { return count_ - size(); }

private:
  std::unique_ptr<DataUnit[]> units_;
  uint32_t mask_; // of an index into units_
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  uint32_t free_; // credits of the producer
  uint64_t count_ = 0;
  bool wanted_ = false; // the producer waits for a pop
  Waker producer_;
  Waker consumer_;
  UnitTaker<DataUnit>* taker_ = nullptr;
};

} // namespace fpga_verbs::hca
