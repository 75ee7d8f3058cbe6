#pragma once

#include "board/host_platform.h"

#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// The wake-up protocol between the threads that produce work for a device and the thread that runs it.
//
// There are five sources of work:
//   ring       a poster has claimed, then stored, a message in the transaction ring
//   note       a link or a poller reports a packet at a port, or room at its other end
//   left over  a caller leaves work to the thread, from a clock tick on; 0: now
//   deadline   the thread that runs the device sets the clock tick of its next timer
//   stop       the board is being destroyed
//
// The device's thread is in one of three states:
//   awake      asleep_until_ is 0
//   announced  asleep_until_ is a clock tick, or no_deadline; the thread checks for work once more
//   asleep     the same, and the thread waits on word_
// Its transitions:
//   awake → announced   announce() stores the tick, then checks for work
//   announced → awake   there is work before that tick: call_off()
//   announced → asleep  there is none: sleep()
//   asleep → awake      word_ has changed, or the tick has arrived; call_off()
//
// Rules for all of native/board:
//   1. A producer publishes its work and then reads the announcement: wake(due). The thread stores its
//      announcement and then checks for work. All four accesses are sequentially consistent, so the producer
//      sees the announcement or the thread sees the work. While the thread is awake, wake() is one load.
//   2. The thread that sets the note must act on it, through the function that it passes to note(). A thread
//      that finds the note set does nothing. The driver takes the note before it checks the ports.
//   3. A caller that misses the board's lock leaves its ring entries and its note to the holder, which checks
//      for both after unlocking (BoardLock explains why it sees them).
//
// `Platform` provides the atomics, wait and wake. The check of all interleavings (native/test/interleavings)
// substitutes its own and runs this same source.
template <class Platform> class BasicWakeups {
public:
  static constexpr uint64_t at_once = 0;
  static constexpr uint64_t no_deadline = ~uint64_t{0};

  // On any thread.

  // Reports work at a port of the device. If this was not noted before, calls `see_to_it`, which runs the
  // device, wakes its thread, or leaves it to a thread that soon does either.
  template <class SeeToIt> void note(SeeToIt&& see_to_it) {
    if (!noted_.exchange(true, std::memory_order_seq_cst))
      see_to_it();
  }
  bool noted() const { return noted_.load(std::memory_order_seq_cst); }

  // Called after publishing work that is due at a clock tick: the thread does not sleep beyond it.
  void wake(uint64_t due = at_once) {
    if (due < asleep_until_.load(std::memory_order_seq_cst))
      wake_thread();
  }

  // Leaves the remaining work to the thread, from a clock tick on.
  void leave(uint64_t due) {
    left_over_.store(due, std::memory_order_seq_cst);
    wake(due);
  }

  void stop() {
    stopped_.store(true, std::memory_order_seq_cst);
    wake();
  }
  bool stopped() const { return stopped_.load(std::memory_order_seq_cst); }

  // Under the board's lock.

  // Takes the note before the driver checks the ports: whether there is new work.
  bool take_note() {
    return noted_.load(std::memory_order_relaxed) && noted_.exchange(false, std::memory_order_seq_cst);
  }

  // Clears the left-over work before the device does it. An exchange, so that the device sees the commands
  // of the caller that left it.
  void take_left_over() { left_over_.exchange(no_deadline, std::memory_order_seq_cst); }

  // Sets the device's next deadline.
  void set_deadline(uint64_t deadline) {
    if (deadline == deadline_.load(std::memory_order_relaxed))
      return;
    deadline_.store(deadline, std::memory_order_seq_cst);
    wake(deadline);
  }

  // Whether work was left over, or the deadline has come.
  template <class Clock> bool is_due(const Clock& clock) const {
    return left_over_.load(std::memory_order_relaxed) != no_deadline ||
           deadline_.load(std::memory_order_relaxed) <= clock.now();
  }

  // On the device's thread.

  // The clock tick at which the thread must work even if no caller does: for left-over work, the deadline or
  // stop.
  uint64_t due() const {
    if (stopped())
      return at_once;
    const uint64_t left_over = left_over_.load(std::memory_order_seq_cst);
    const uint64_t deadline = deadline_.load(std::memory_order_seq_cst);
    return left_over < deadline ? left_over : deadline;
  }

  // Announces a sleep until a clock tick; `look` returns the tick at which there is work. False: that tick is
  // earlier, and the sleep is called off.
  template <class Look> bool announce(uint64_t until, Look&& look) {
    word_.store(1, std::memory_order_relaxed); // before what follows: who sees the tick finds the word set
    asleep_until_.store(until, std::memory_order_seq_cst);
    if (look() >= until)
      return true;
    call_off();
    return false;
  }

  // Sleeps, after announce(), until the tick or a wake().
  template <class Clock> void sleep(uint64_t until, const Clock& clock) {
    const uint64_t now = clock.now();
    if (until == no_deadline)
      Platform::wait(word_, 1, Platform::for_ever);
    else if (until > now)
      Platform::wait(word_, 1, clock.nanoseconds(until - now));
    call_off();
  }

private:
  template <class Value> using Atomic = typename Platform::template Atomic<Value>;

  void call_off() {
    asleep_until_.store(0, std::memory_order_relaxed);
    word_.store(0, std::memory_order_relaxed);
  }

  void wake_thread() {
    if (word_.exchange(0, std::memory_order_seq_cst) != 0)
      Platform::wake(word_);
  }

  alignas(64) Atomic<uint64_t> asleep_until_{0};
  Atomic<uint32_t> word_{0}; // that the thread waits on; 1: it may be asleep
  alignas(64) Atomic<bool> noted_{false};
  alignas(64) Atomic<uint64_t> left_over_{no_deadline};
  Atomic<uint64_t> deadline_{no_deadline};
  Atomic<bool> stopped_{false};
};

using Wakeups = BasicWakeups<HostPlatform>;

} // namespace fpga_verbs::board
