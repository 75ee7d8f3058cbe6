#pragma once

#include "board/board_lock.h"
#include "board/wakeups.h"

#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// Runs a device on its own thread, which spins like hardware under traffic and sleeps after a time without
// work. It follows the rules of BasicWakeups.
//
// `Parts`: Platform, Device (work(), next_deadline()), Ring (claimed()), Clock, and idle_time(), nanoseconds.
template <class Parts> class ThreadDrive {
public:
  using Platform = typename Parts::Platform;
  using Wakeups = BasicWakeups<Platform>;

  // `sleep_after`: nanoseconds without work.
  ThreadDrive(typename Parts::Device& device, typename Parts::Ring& ring, const typename Parts::Clock& clock,
              Wakeups& wakeups, uint64_t sleep_after)
      : device_(device), ring_(ring), clock_(clock), wakeups_(wakeups), sleep_after_(sleep_after) {}

  // Handles a poll: reports a packet that the link may not have reported yet.
  void poll(bool has_arrived) {
    if (has_arrived)
      wakeups_.note([this] { wakeups_.wake(); });
  }

  void begin_exclusive() {
    contenders_.fetch_add(1, std::memory_order_seq_cst);
    lock_.lock();
  }
  void end_exclusive() {
    lock_.unlock();
    contenders_.fetch_sub(1, std::memory_order_seq_cst);
    wakeups_.wake(); // what the caller changed may be due
  }

  // Main loop of the thread, until stop().
  void run() {
    lock();
    uint64_t idle_since = Parts::idle_time();
    unsigned looks = 0;
    typename Platform::Loop loop;
    while (!wakeups_.stopped()) {
      loop.again(idle_since); // and how long it has not looked at the time
      if (contenders_.load(std::memory_order_relaxed) != 0) {
        lock_.unlock();
        lock();
      }
      if (device_.work(Parts::work_at_once) != 0) {
        looks = 0;
      } else if (++looks % Parts::looks_between_clocks == 0) {
        const uint64_t now = Parts::idle_time();
        if (looks == Parts::looks_between_clocks)
          idle_since = now;
        if (now - idle_since >= sleep_after_)
          sleep();
      }
    }
    lock_.unlock();
  }

private:
  // Takes the lock when no caller contends for it.
  void lock() {
    typename Platform::Spin spin;
    do {
      while (contenders_.load(std::memory_order_relaxed) != 0 && !wakeups_.stopped())
        spin.wait();
    } while (!lock_.try_lock());
  }

  // Announces under the lock: a caller that changes the device afterwards finds the thread asleep.
  void sleep() {
    const uint64_t until = device_.next_deadline();
    const auto look = [this] {
      return ring_.claimed() || wakeups_.noted() || wakeups_.stopped() ? Wakeups::at_once
                                                                       : Wakeups::no_deadline;
    };
    if (!wakeups_.announce(until, look))
      return;
    lock_.unlock();
    wakeups_.sleep(until, clock_);
    lock();
  }

  typename Parts::Device& device_;
  typename Parts::Ring& ring_;
  const typename Parts::Clock& clock_;
  Wakeups& wakeups_;
  uint64_t sleep_after_;
  BasicBoardLock<Platform> lock_; // held by the thread while it is awake, but when others contend for it
  alignas(64) typename Platform::template Atomic<unsigned> contenders_{0};
};

} // namespace fpga_verbs::board
