#pragma once

#include "board/transaction_ring.h"
#include "board/wakeups.h"
#include "test/interleavings/checked_platform.h"

#include <algorithm>
#include <cstdint>

namespace fpga_verbs::interleavings {

using CheckedWakeups = board::BasicWakeups<CheckedPlatform>;
using CheckedRing = board::BasicTransactionRing<CheckedPlatform, 4>;

// A tick is a nanosecond.
struct CheckedClock {
  uint64_t now() const {
    const uint64_t now = Explorer::here().now();
    Explorer::here().observe(now);
    return now;
  }
  uint64_t nanoseconds(uint64_t ticks) const { return ticks; }
  uint64_t ticks(uint64_t nanoseconds) const { return nanoseconds; }
};

// A link on which packets arrive before their receiver is notified, as on a socket.
class CheckedLink {
public:
  explicit CheckedLink(unsigned arrived) : arrived_(arrived) {}

  void arrive() { arrived_.fetch_add(1, std::memory_order_acq_rel); }
  bool has_arrived() const {
    return arrived_.load(std::memory_order_acquire) != taken_.load(std::memory_order_relaxed);
  }
  // The device.
  bool take() {
    if (!has_arrived())
      return false;
    taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return true;
  }
  bool is_empty() const { return arrived_.value() == taken_.value(); }

private:
  CheckedPlatform::Atomic<unsigned> arrived_;
  CheckedPlatform::Atomic<unsigned> taken_{0};
};

// A device that accepts messages and packets, under the board's lock. A message may set a timer.
class CheckedDevice {
public:
  static constexpr uint32_t sets_timer = 0x80; // in the message
  static constexpr uint64_t timer = 10;        // nanoseconds
  static constexpr uint64_t no_deadline = CheckedWakeups::no_deadline;

  CheckedDevice(CheckedRing& ring, CheckedLink& link, const CheckedClock& clock, CheckedWakeups& wakeups)
      : ring_(ring), link_(link), clock_(clock), wakeups_(wakeups) {}

  uint64_t work(uint64_t limit) {
    enter();
    uint64_t done = 0;
    while (done < limit && one())
      ++done;
    in_use_ = false;
    return done;
  }
  uint64_t next_deadline() const { return deadline_; }

  // Changes the device from another thread, under the lock.
  void set_timer() {
    enter();
    deadline_ = clock_.now() + timer;
    in_use_ = false;
  }

  unsigned taken() const { return taken_; }
  bool fired() const { return deadline_ == no_deadline; }
  uint64_t state() const {
    return taken_ | uint64_t{busy_} << 8 | uint64_t{in_use_} << 9 |
           (deadline_ == no_deadline ? 0 : deadline_ << 16);
  }

private:
  void enter() {
    if (in_use_)
      Explorer::here().fail("two threads have the device");
    in_use_ = true;
  }

  bool one() {
    board::Message message;
    if (ring_.pop(message)) {
      ++taken_;
      if ((message.data[0] & sets_timer) != 0)
        deadline_ = clock_.now() + timer;
      return true;
    }
    if (wakeups_.take_note())
      busy_ = true;
    if (busy_) {
      if (link_.take())
        return true;
      busy_ = false;
    }
    if (deadline_ == no_deadline || clock_.now() < deadline_)
      return false;
    deadline_ = no_deadline;
    return true;
  }

  CheckedRing& ring_;
  CheckedLink& link_;
  const CheckedClock& clock_;
  CheckedWakeups& wakeups_;
  bool in_use_ = false;
  bool busy_ = false; // the ports must be polled
  unsigned taken_ = 0;
  uint64_t deadline_ = no_deadline;
};

// All parts of a drive.
struct CheckedParts {
  using Platform = CheckedPlatform;
  using Device = CheckedDevice;
  using Ring = CheckedRing;
  using Clock = CheckedClock;
  static constexpr uint64_t work_of_a_caller = 2;
  static constexpr uint64_t work_of_the_thread = 2;
  static constexpr uint64_t a_while = 100;
  static constexpr unsigned commands_at_once = 1;
  static constexpr uint64_t work_at_once = 1;
  static constexpr unsigned looks_between_clocks = 1;
  static uint64_t idle_time() { return 0; }
  template <class Drive> static auto collect(Drive&& drive) { return drive(); }
};

} // namespace fpga_verbs::interleavings
