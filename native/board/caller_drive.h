#pragma once

#include "board/attendance.h"
#include "board/board_lock.h"
#include "board/wakeups.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// A device that the threads which use it drive, under a lock that is tried and never waited for. A thread
// that sleeps does what is left over and what comes due, but leaves both to callers while they keep coming:
// nothing crosses between CPUs then. It builds on the rules of BasicWakeups.
//
// `Parts`: Platform, Device (work(), next_deadline()), Ring (arriving()), Clock, and collect(), within which
// what the device gives to others is driven too.
template <class Parts> class CallerDrive {
public:
  using Platform = typename Parts::Platform;
  using Wakeups = BasicWakeups<Platform>;

  CallerDrive(typename Parts::Device& device, typename Parts::Ring& ring, const typename Parts::Clock& clock,
              Wakeups& wakeups)
      : device_(device), ring_(ring), clock_(clock), wakeups_(wakeups) {}

  // A caller lets the device work; gives whether anything was done.
  bool drive() {
    if (!visited_.load(std::memory_order_relaxed))
      visited_.store(true, std::memory_order_relaxed);
    return Parts::collect([this] { return work(Parts::work_of_a_caller); }) == Outcome::worked;
  }

  void attend(Attendance attendance) {
    switch (attendance) {
    case Attendance::drive:
      drive();
      return;
    case Attendance::wake:
      wakeups_.leave(Wakeups::at_once);
      return;
    case Attendance::leave:
      wakeups_.leave(in_a_while());
      return;
    }
  }

  // A caller that polls brings what a link may not have told yet.
  bool poll(bool has_arrived) {
    if (has_arrived)
      wakeups_.note([] {}); // the next line sees to it
    return drive();
  }

  void begin_exclusive() { lock_.lock(); }
  void end_exclusive() {
    wakeups_.set_deadline(device_.next_deadline());
    lock_.unlock();
    drive(); // what others posted meanwhile, and what the caller changed
  }

  // The thread, until it is stopped.
  void run() {
    uint64_t earliest = 0;
    typename Platform::Loop loop;
    while (!wakeups_.stopped()) {
      loop.again(earliest);
      const uint64_t until = due(earliest);
      if (until > clock_.now()) {
        if (wakeups_.announce(until, [this, earliest] { return due(earliest); }))
          wakeups_.sleep(until, clock_);
      } else if (visited_.exchange(false, std::memory_order_relaxed) && until != Wakeups::at_once) {
        earliest = in_a_while();
      } else if (Parts::collect([this] { return work(Parts::work_of_the_thread); }) == Outcome::missed) {
        leave_to_holder();
      }
    }
  }

private:
  enum class Outcome : uint8_t { missed, idle, worked }; // missed: another thread has the device

  // Rule 3: what is left over is worked off by the one that clears it.
  Outcome work(uint64_t limit) {
    Outcome outcome = Outcome::missed;
    typename Platform::Loop loop;
    do {
      loop.again(static_cast<uint64_t>(outcome));
      if (!lock_.try_lock())
        return outcome;
      wakeups_.take_left_over();
      const uint64_t done = device_.work(limit);
      wakeups_.set_deadline(device_.next_deadline());
      lock_.unlock();
      if (done >= limit) {
        wakeups_.leave(visited_.load(std::memory_order_relaxed) ? in_a_while() : Wakeups::at_once);
        return Outcome::worked;
      }
      if (outcome != Outcome::worked)
        outcome = done != 0 ? Outcome::worked : Outcome::idle;
    } while (ring_.arriving() || wakeups_.noted());
    return outcome;
  }

  // The thread has missed the lock: it neither spins against the holder nor relies on it for long.
  void leave_to_holder() {
    const uint64_t until = in_a_while();
    const auto look = [this] { return wakeups_.stopped() ? Wakeups::at_once : Wakeups::no_deadline; };
    if (wakeups_.announce(until, look))
      wakeups_.sleep(until, clock_);
  }

  uint64_t in_a_while() const { return clock_.now() + clock_.ticks(Parts::a_while); }

  // The clock tick at which the thread has something to do, if callers keep away; not before `earliest`, but
  // for what it is to do at once.
  uint64_t due(uint64_t earliest) const {
    const uint64_t due = wakeups_.due();
    return due == Wakeups::at_once ? due : std::max(earliest, due);
  }

  typename Parts::Device& device_;
  typename Parts::Ring& ring_;
  const typename Parts::Clock& clock_;
  Wakeups& wakeups_;
  BasicBoardLock<Platform> lock_;
  typename Platform::template Atomic<bool> visited_{false}; // by a caller, since the thread looked last
};

} // namespace fpga_verbs::board
