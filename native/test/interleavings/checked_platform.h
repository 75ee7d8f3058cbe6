#pragma once

#include "test/interleavings/explorer.h"

#include <atomic>
#include <cstdint>

namespace fpga_verbs::interleavings {

// The atomics and system calls of a program whose interleavings are explored: HostPlatform, with an Explorer
// in place of the machine.
struct CheckedPlatform {
  static constexpr uint64_t for_ever = ~uint64_t{0};

  template <class Value> class Atomic {
  public:
    Atomic(Value value = {}) : location_(Explorer::here().add_location(static_cast<uint64_t>(value))) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    Value load(std::memory_order) const { return static_cast<Value>(Explorer::here().load(location_)); }
    void store(Value value, std::memory_order order) {
      const auto how = order == std::memory_order_seq_cst   ? Explorer::Order::total
                       : order == std::memory_order_release ? Explorer::Order::release
                                                            : Explorer::Order::relaxed;
      Explorer::here().store(location_, static_cast<uint64_t>(value), how);
    }
    Value exchange(Value value, std::memory_order) {
      return change([value](Value) { return value; });
    }
    Value fetch_add(Value value, std::memory_order) {
      return change([value](Value before) { return static_cast<Value>(before + value); });
    }
    Value fetch_sub(Value value, std::memory_order) {
      return change([value](Value before) { return static_cast<Value>(before - value); });
    }
    bool compare_exchange_weak(Value& expected, Value wanted, std::memory_order, std::memory_order) {
      const Value found = change([&](Value before) { return before == expected ? wanted : before; });
      const bool exchanged = found == expected;
      expected = found;
      return exchanged;
    }

    // At rest.
    Value value() const { return static_cast<Value>(Explorer::here().value(location_)); }

  private:
    friend struct CheckedPlatform;
    template <class Change> Value change(const Change& made) {
      return static_cast<Value>(Explorer::here().exchange(location_, [&](uint64_t before) {
        return static_cast<uint64_t>(made(static_cast<Value>(before)));
      }));
    }

    unsigned location_;
  };

  static void wait(Atomic<uint32_t>& word, uint32_t value, uint64_t nanoseconds) {
    Explorer& explorer = Explorer::here();
    explorer.wait(word.location_, value, nanoseconds == for_ever ? for_ever : explorer.now() + nanoseconds);
  }
  static void wake(Atomic<uint32_t>& word) { Explorer::here().wake(word.location_); }

  class Loop {
  public:
    void again(uint64_t state) { Explorer::here().again(before_, state); }

  private:
    uint64_t before_ = Explorer::here().history();
  };

  class Spin {
  public:
    void wait() { loop_.again(0); }

  private:
    Loop loop_;
  };
};

} // namespace fpga_verbs::interleavings
