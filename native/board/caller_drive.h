#pragma once

#include "board/attendance.h"
#include "board/board_lock.h"
#include "board/wakeups.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// Runs a device on the threads that use it, under a lock that is tried and never waited for. A background
// thread does the remaining work and serves timers, but leaves both to callers while they keep coming, so
// that no work crosses between CPUs. It follows the rules of BasicWakeups.
//
// `Parts`: Platform, Device (work(), next_deadline()), Ring (arriving()), Clock, and collect(), which also
// runs the devices to which this one has passed work.
template <class Parts> class CallerDrive {
public:
  using Platform = typename Parts::Platform;
  using Wakeups = BasicWakeups<Platform>;

  CallerDrive(typename Parts::Device& device, typename Parts::Ring& ring, const typename Parts::Clock& clock,
              Wakeups& wakeups)
      : device_(device), ring_(ring), clock_(clock), wakeups_(wakeups),
        a_while_(clock.ticks(Parts::a_while)) {}

  // Runs the device on the calling thread; returns whether it did any work.
  bool drive() {
    visit();
    return Parts::collect([this] { return work(Parts::work_of_a_caller); }) == Outcome::worked;
  }

  void attend(Attendance attendance) {
    switch (attendance) {
    case Attendance::drive:
      visit();
      work(Parts::work_of_a_caller);
      return;
    case Attendance::wake:
      wakeups_.leave(Wakeups::at_once);
      return;
    case Attendance::leave:
      wakeups_.leave(in_a_while());
      return;
    }
  }

  // Leaves a command to the caller's next call or, if that does not come in a while, to the thread. False:
  // the caller has to run the device now, because the thread lately had to take a command, as of a program
  // that polls its memory and not its completion queue.
  bool leave_command() {
    if (const unsigned at_once = commands_at_once_.load(std::memory_order_relaxed); at_once != 0)
        [[unlikely]] {
      commands_at_once_.store(at_once - 1, std::memory_order_relaxed);
      return false;
    }
    wakeups_.leave(in_a_while());
    return true;
  }

  // Handles a poll, including a packet that the link may not have reported yet.
  bool poll(bool has_arrived) {
    if (has_arrived)
      wakeups_.note([] {}); // the next lines see to it
    visit();
    return Parts::collect([this] { return is_due() ? work(Parts::work_of_a_caller) : Outcome::idle; }) ==
           Outcome::worked;
  }

  // The device executes the messages that the caller stored before its change.
  void begin_exclusive() {
    if (ring_.arriving())
      drive();
    lock_.lock();
  }
  void end_exclusive() {
    wakeups_.set_deadline(device_.next_deadline());
    lock_.unlock();
    drive(); // what others posted meanwhile, and what the caller changed
  }

  // Main loop of the thread, until stop().
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
      } else {
        if (ring_.arriving())
          commands_at_once_.store(Parts::commands_at_once, std::memory_order_relaxed);
        if (Parts::collect([this] { return work(Parts::work_of_the_thread); }) == Outcome::missed)
          leave_to_holder();
      }
    }
  }

private:
  enum class Outcome : uint8_t { missed, idle, worked }; // missed: another thread has the device

  void visit() {
    if (!visited_.load(std::memory_order_relaxed))
      visited_.store(true, std::memory_order_relaxed);
  }

  // Whether the device has anything to do now.
  bool is_due() const { return ring_.arriving() || wakeups_.noted() || wakeups_.is_due(clock_); }

  // Rule 3: the thread that clears the left-over work does it.
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

  // The thread has missed the lock: it neither spins against the holder nor waits for it for long.
  void leave_to_holder() {
    const uint64_t until = in_a_while();
    const auto look = [this] { return wakeups_.stopped() ? Wakeups::at_once : Wakeups::no_deadline; };
    if (wakeups_.announce(until, look))
      wakeups_.sleep(until, clock_);
  }

  uint64_t in_a_while() const { return clock_.now() + a_while_; }

  // The clock tick at which the thread must work if no caller does. Not before `earliest`, except for work
  // that is due at once.
  uint64_t due(uint64_t earliest) const {
    const uint64_t due = wakeups_.due();
    return due == Wakeups::at_once ? due : std::max(earliest, due);
  }

  typename Parts::Device& device_;
  typename Parts::Ring& ring_;
  const typename Parts::Clock& clock_;
  Wakeups& wakeups_;
  const uint64_t a_while_; // clock ticks
  BasicBoardLock<Platform> lock_;
  typename Platform::template Atomic<bool> visited_{false}; // by a caller, since the thread looked last
  typename Platform::template Atomic<unsigned> commands_at_once_{0}; // that callers do not leave
};

} // namespace fpga_verbs::board
