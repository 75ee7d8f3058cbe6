#pragma once

#include "board/attendance.h"
#include "board/board_lock.h"
#include "board/wakeups.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// A device that the threads which use it drive, under a lock that is tried and never waited for. A thread that
// sleeps does what is left over and what comes due, but leaves both to callers while they keep coming: nothing
// crosses between CPUs then. It builds on the rules of BasicWakeups.
//
// `Parts`: Platform, Device (work(), next_deadline()), Ring (arriving()), Clock, and collect(), within which what
// the device gives to others is driven too.
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
    return Parts::collect([this] { return work(Parts::work_of_a_caller); });
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
    while (!wakeups_.stopped()) {
      const uint64_t until = due(earliest);
      if (until > clock_.now()) {
        if (wakeups_.announce(until, [this, earliest] { return due(earliest); }))
          wakeups_.sleep(until, clock_);
      } else if (visited_.exchange(false, std::memory_order_relaxed) && until != Wakeups::at_once) {
        earliest = in_a_while();
      } else {
        Parts::collect([this] { return work(Parts::work_of_the_thread); });
      }
    }
  }

private:
  // Rules 3 and 4. Gives whether anything was done.
  bool work(uint64_t limit) {
    bool worked = false;
    do {
      if (!lock_.try_lock())
        return worked;
      wakeups_.take_left_over();
      const uint64_t done = device_.work(limit);
      worked = worked || done != 0;
      wakeups_.set_deadline(device_.next_deadline());
      lock_.unlock();
      if (done >= limit) {
        wakeups_.leave(visited_.load(std::memory_order_relaxed) ? in_a_while() : Wakeups::at_once);
        return true;
      }
    } while (ring_.arriving() || wakeups_.noted());
    return worked;
  }

  uint64_t in_a_while() const { return clock_.now() + clock_.ticks(Parts::a_while); }

  // The clock tick at which the thread has something to do, if callers keep away; not before `earliest`, but for
  // what it is to do at once.
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
