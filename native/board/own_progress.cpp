#include "board/device_thread.h"
#include "board/processor.h"
#include "board/progress.h"

#include <sched.h>

namespace fpga_verbs::board {

namespace {

constexpr uint64_t work_at_once = 64;
constexpr unsigned looks_between_clocks = 1024;   // idle looks at the ring between two looks at the time
constexpr uint64_t idle_before_sleep = 2'000'000; // nanoseconds
constexpr unsigned looks_before_yield = 1000;     // of a thread that waits for the device

// Waits a moment for another thread: at first without giving up the CPU.
void wait_a_moment() {
  thread_local unsigned looks = 0;
  if (++looks % looks_before_yield == 0)
    sched_yield();
  else
    relax_processor();
}

} // namespace

OwnProgress::OwnProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock, int cpu)
    : device_(device), ring_(ring), clock_(clock), thread_(start_device_thread(cpu, [this] { run(); })) {}

OwnProgress::~OwnProgress() {
  stop_.store(true, std::memory_order_seq_cst);
  sleeper_.wake();
  thread_.join();
}

void OwnProgress::make_room() { approach(); }

void OwnProgress::approach() {
  sleeper_.wake();
  wait_a_moment();
}

void OwnProgress::begin_exclusive() {
  contenders_.fetch_add(1, std::memory_order_seq_cst);
  while (!lock_.try_lock())
    wait_a_moment();
}

void OwnProgress::end_exclusive() {
  lock_.unlock();
  contenders_.fetch_sub(1, std::memory_order_seq_cst);
  sleeper_.wake(); // what the caller changed may be due
}

void OwnProgress::run() {
  lock();
  uint64_t idle_since = HostTime::now();
  unsigned looks = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (contenders_.load(std::memory_order_relaxed) != 0) {
      lock_.unlock();
      lock();
    }
    if (device_.work(work_at_once) != 0) {
      looks = 0;
    } else if (++looks % looks_between_clocks == 0) {
      const uint64_t now = HostTime::now();
      if (looks == looks_between_clocks)
        idle_since = now;
      else if (now - idle_since > idle_before_sleep)
        sleep_until_posted();
    }
  }
  lock_.unlock();
}

// Takes the lock when nobody contends for it.
void OwnProgress::lock() {
  do {
    while (contenders_.load(std::memory_order_relaxed) != 0 && !stop_.load(std::memory_order_relaxed))
      wait_a_moment();
  } while (!lock_.try_lock());
}

void OwnProgress::sleep_until_posted() {
  sleeper_.announce();
  if (ring_.claimed() || device_.notified() || stop_.load(std::memory_order_seq_cst)) {
    sleeper_.call_off();
    return;
  }
  const uint64_t deadline = device_.next_deadline();
  const uint64_t now = clock_.now();
  lock_.unlock();
  if (deadline == no_deadline)
    sleeper_.sleep(Sleeper::forever);
  else if (deadline > now)
    sleeper_.sleep(clock_.nanoseconds(deadline - now));
  else
    sleeper_.call_off();
  lock();
}

} // namespace fpga_verbs::board
