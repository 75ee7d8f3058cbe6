#pragma once

#include "hca/base/block.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace fpga_verbs::hca {

// A consumer that can process a data unit within the producer's step, if no earlier unit waits.
template <class DataUnit> class UnitTaker {
public:
  virtual ~UnitTaker() = default;
  // no: the unit goes through the link; done; more: taken, and the consumer must step again.
  enum class Taken : uint8_t { no, done, more };
  virtual Taken take_at_once(const DataUnit& unit) = 0;

  // The same for a train: units of one queue pair in their order, at least one. Takes those up to the first
  // that goes through the link.
  struct TakenTrain {
    size_t units = 0;
    bool more = false; // the consumer must step again
  };
  virtual TakenTrain take_train(std::span<const DataUnit> train) {
    TakenTrain taken;
    for (; taken.units != train.size(); ++taken.units) {
      const Taken unit = take_at_once(train[taken.units]);
      if (unit == Taken::no)
        break;
      taken.more |= unit == Taken::more;
    }
    return taken;
  }
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
  template <class Consumer> void pass_by_to(Consumer* consumer) {
    taker_ = consumer;
    take_of_taker_ = consumer != nullptr ? take_of<Consumer> : take_none;
    look_whether_empty();
  }

  // Passes a data unit by the empty link to a consumer that takes it at once, else pushes it.
  void hand_over(const DataUnit& unit) {
    const Taken taken = take_(taker_, unit);
    if (taken == Taken::done) [[likely]] {
      ++count_;
    } else if (taken == Taken::more) {
      ++count_;
      consumer_.wake();
    } else if (taker_of_train_ != nullptr) {
      gather(unit);
    } else {
      push(unit);
    }
  }

  // The same for a train, with a credit for each of its units.
  void hand_over_train(std::span<const DataUnit> train) { pass_train(train, taker_); }

  // Until end_train(), what is handed over is kept, and spends credits, and goes in trains to the consumer,
  // which hand_over() does not see meanwhile.
  void begin_train() {
    assert(taker_of_train_ == nullptr);
    taker_of_train_ = std::exchange(taker_, nullptr);
    take_ = take_none;
  }
  void end_train() {
    if (taker_of_train_ == nullptr)
      return;
    if (gathered_ != 0)
      hand_over_gathered();
    taker_ = std::exchange(taker_of_train_, nullptr);
    look_whether_empty();
  }

  bool empty() const { return head_ == tail_; }
  size_t size() const { return tail_ - head_; }

  void push(const DataUnit& unit) {
    assert(free_ != 0);
    --free_;
    units_[tail_++ & mask_] = unit;
    take_ = take_none;
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
    look_whether_empty();
    if (wanted_) [[unlikely]] {
      wanted_ = false;
      producer_.wake();
    }
  }

  void clear() {
    head_ = tail_;
    free_ = mask_ + 1;
    gathered_ = 0;
    look_whether_empty();
  }

  // Data units pushed since the start, and how many of them have left.
  const uint64_t& count() const { return count_; }
  uint64_t left() const { return count_ - size(); }

private:
  using Taken = typename UnitTaker<DataUnit>::Taken;
  using Take = Taken (*)(UnitTaker<DataUnit>* taker, const DataUnit& unit);

  static constexpr size_t most_of_a_train = 16;

  static Taken take_none(UnitTaker<DataUnit>*, const DataUnit&) { return Taken::no; }
  // Not by the table of virtual functions: the type of the consumer is known.
  template <class Consumer> static Taken take_of(UnitTaker<DataUnit>* taker, const DataUnit& unit) {
    return static_cast<Consumer*>(taker)->take_at_once(unit);
  }
  // hand_over() calls `take_`: it is chosen when the link fills or empties, and not for each unit.
  void look_whether_empty() { take_ = empty() && taker_ != nullptr ? take_of_taker_ : take_none; }

  void gather(const DataUnit& unit) {
    if (gathered_ == most_of_a_train || (gathered_ != 0 && !are_of_one_queue_pair(train_[0], unit)))
      hand_over_gathered();
    assert(free_ != 0);
    --free_;
    train_[gathered_++] = unit;
  }
  [[gnu::noinline]] void hand_over_gathered() {
    const size_t units = std::exchange(gathered_, 0);
    free_ += static_cast<uint32_t>(units);
    pass_train({train_.data(), units}, taker_of_train_);
  }
  void pass_train(std::span<const DataUnit> train, UnitTaker<DataUnit>* taker) {
    size_t taken = 0;
    if (taker != nullptr && empty()) {
      const typename UnitTaker<DataUnit>::TakenTrain done = taker->take_train(train);
      taken = done.units;
      count_ += taken;
      if (done.more)
        consumer_.wake();
    }
    for (; taken != train.size(); ++taken) [[unlikely]]
      push(train[taken]);
  }
  static bool are_of_one_queue_pair(const DataUnit& one, const DataUnit& other) {
    return one.queue_pair_number() == other.queue_pair_number();
  }

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
  Take take_of_taker_ = take_none;
  Take take_ = take_none; // that of the taker while the link is empty, but of no train
  UnitTaker<DataUnit>* taker_of_train_ = nullptr; // while units are gathered for it
  size_t gathered_ = 0;                           // of train_
  std::array<DataUnit, most_of_a_train> train_;
};

} // namespace fpga_verbs::hca
