#pragma once

#include "board/host_platform.h"

#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// How the threads that have something for a device, and the thread that drives it, find each other.
//
// Work for a device becomes known in one of five ways:
//   ring       a message is claimed, then stored, in the transaction ring          (posters)
//   note       something has come at a port, or room at its other end             (links, pollers)
//   left over  a clock tick at which the thread takes over from callers; 0: now   (the caller that leaves
//   work) deadline   the clock tick at which the device has something to do by itself   (the thread that
//   drives it) stop       the board goes
//
// The device's thread is in one of three states:
//   awake      asleep_until_ is 0
//   announced  asleep_until_ is a clock tick, no_deadline for none; the thread looks for work once more
//   asleep     the same, and it waits on word_
// Its transitions:
//   awake → announced   announce(): stores the tick, then looks
//   announced → awake   there is work before that tick: call_off()
//   announced → asleep  there is none: sleep()
//   asleep → awake      word_ has changed, or the tick has come; call_off()
//
// The rules, on which all the rest of native/board builds:
//   1. A maker of work publishes it first, and looks at the announcement then: wake(due). The thread
//   announces
//      first, and looks for work then. All four are sequentially consistent, so that one sees the other.
//      While the thread is awake a wake() is one load.
//   2. The note has one that sees to it: the one that sets it, with the function that it gives to note(). One
//   that
//      finds the note set has nothing to do, and relies on that. The driver takes the note before it looks at
//      the ports.
//   3. A caller that misses the board's lock leaves its ring entries and its note to the holder, who looks
//   for
//      both after unlocking (BoardLock says why it sees them).
//
// `Platform` has the atomics and the two calls that sleep and wake; a check of all interleavings
// (native/test/ interleavings) brings its own, and drives this same source.
template <class Platform> class BasicWakeups {
public:
  static constexpr uint64_t at_once = 0;
  static constexpr uint64_t no_deadline = ~uint64_t{0};

  // On any thread.

  // There is something at a port of the device. `see_to_it` is called where that was not known: it drives the
  // device, wakes its thread, or leaves it to one that does either soon.
  template <class SeeToIt> void note(SeeToIt&& see_to_it) {
    if (!noted_.exchange(true, std::memory_order_seq_cst))
      see_to_it();
  }
  bool noted() const { return noted_.load(std::memory_order_seq_cst); }

  // After work was published that is due at a clock tick: the thread does not sleep beyond it.
  void wake(uint64_t due = at_once) {
    if (due < asleep_until_.load(std::memory_order_seq_cst))
      wake_thread();
  }

  // Leaves what there is to do to the thread, from a clock tick on.
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

  // Before the driver looks at the ports: whether there is anything new.
  bool take_note() {
    return noted_.load(std::memory_order_relaxed) && noted_.exchange(false, std::memory_order_seq_cst);
  }

  // Before the device works off what was left over.
  void take_left_over() { left_over_.store(no_deadline, std::memory_order_seq_cst); }

  // The device has another next deadline now.
  void set_deadline(uint64_t deadline) {
    if (deadline == deadline_.load(std::memory_order_relaxed))
      return;
    deadline_.store(deadline, std::memory_order_seq_cst);
    wake(deadline);
  }

  // On the device's thread.

  // The clock tick at which it has to work although no caller does: by what is left over, the deadline and
  // stop.
  uint64_t due() const {
    if (stopped())
      return at_once;
    const uint64_t left_over = left_over_.load(std::memory_order_seq_cst);
    const uint64_t deadline = deadline_.load(std::memory_order_seq_cst);
    return left_over < deadline ? left_over : deadline;
  }

  // Announces a sleep until a clock tick; `look` gives the tick at which there is work. False: that is
  // before, and the sleep is called off.
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
