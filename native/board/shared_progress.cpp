#include "board/device_thread.h"
#include "board/neighbours.h"
#include "board/progress.h"

#include <algorithm>
#include <sched.h>

namespace fpga_verbs::board {

namespace {

// What a caller does at once before it leaves the rest to the thread: enough for any batch, and well under a
// millisecond.
constexpr uint64_t work_of_a_caller = 1024;
constexpr uint64_t work_of_the_thread = 4096;
constexpr uint64_t a_while = 200'000; // ns within which a caller that polls is back

} // namespace

SharedProgress::SharedProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock)
    : device_(device), ring_(ring), clock_(clock), thread_(start_device_thread(-1, [this] { run(); })) {}

SharedProgress::~SharedProgress() {
  stop_.store(true, std::memory_order_seq_cst);
  leave_to_thread(0);
  thread_.join();
}

void SharedProgress::posted() { work_of_caller(); }

void SharedProgress::make_room() {
  if (!work_of_caller())
    sched_yield(); // somebody else has the device
}

bool SharedProgress::advance() { return work_of_caller(); }

void SharedProgress::attend(Attendance attendance) {
  switch (attendance) {
  case Attendance::drive:
    work_of_caller();
    return;
  case Attendance::wake:
    leave_to_thread(0);
    return;
  case Attendance::leave:
    leave_to_thread(in_a_while());
    return;
  }
}

// What the device sends to boards of other threads' or this one's is taken there on this thread too.
bool SharedProgress::work_of_caller() {
  if (!visited_.load(std::memory_order_relaxed))
    visited_.store(true, std::memory_order_relaxed);
  return Neighbours::here().collect([this] { return work(work_of_a_caller); });
}

// Whoever misses the lock leaves its transactions to the holder, who looks for them after unlocking. Gives
// whether anything was done.
bool SharedProgress::work(uint64_t limit) {
  bool worked = false;
  do {
    if (!lock_.try_lock())
      return worked;
    left_over_.store(no_deadline, std::memory_order_seq_cst);
    const uint64_t done = device_.work(limit);
    worked = worked || done != 0;
    announce_deadline();
    lock_.unlock();
    if (done >= limit) {
      leave_to_thread(visited_.load(std::memory_order_relaxed) ? in_a_while() : 0);
      return true;
    }
  } while (ring_.arriving() || device_.notified());
  return worked;
}

void SharedProgress::begin_exclusive() {
  while (!lock_.try_lock())
    sched_yield();
}

void SharedProgress::end_exclusive() {
  announce_deadline();
  lock_.unlock();
  work_of_caller(); // what others posted meanwhile, and what the caller changed
}

// Under the lock: the thread must not sleep beyond what comes due.
void SharedProgress::announce_deadline() {
  const uint64_t deadline = device_.next_deadline();
  if (deadline == deadline_.load(std::memory_order_relaxed))
    return;
  deadline_.store(deadline, std::memory_order_seq_cst);
  wake_by(deadline);
}

void SharedProgress::leave_to_thread(uint64_t due) {
  left_over_.store(due, std::memory_order_seq_cst);
  wake_by(due);
}

void SharedProgress::wake_by(uint64_t due) {
  if (due < sleeping_until_.load(std::memory_order_seq_cst))
    sleeper_.wake();
}

uint64_t SharedProgress::in_a_while() const { return clock_.now() + clock_.ticks(a_while); }

// The clock tick at which the thread has something to do, if callers keep away; not before `earliest`, but
// for what it is to do at once.
uint64_t SharedProgress::due(uint64_t earliest) const {
  const uint64_t left_over = left_over_.load(std::memory_order_seq_cst);
  const uint64_t deadline = deadline_.load(std::memory_order_seq_cst);
  return left_over == 0 ? 0 : std::max(earliest, std::min(deadline, left_over));
}

void SharedProgress::run() {
  uint64_t earliest = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    sleep_until_due(earliest);
    const uint64_t until = due(earliest);
    if (until > clock_.now())
      continue;
    if (visited_.exchange(false, std::memory_order_relaxed) && until != 0)
      earliest = in_a_while();
    else
      Neighbours::here().collect([this] { return work(work_of_the_thread); });
  }
}

void SharedProgress::sleep_until_due(uint64_t earliest) {
  sleeper_.announce();
  const uint64_t until = due(earliest);
  sleeping_until_.store(until, std::memory_order_seq_cst);
  const uint64_t now = clock_.now();
  if (until <= now || due(earliest) < until)
    sleeper_.call_off();
  else
    sleeper_.sleep(until == no_deadline ? Sleeper::forever : clock_.nanoseconds(until - now));
  sleeping_until_.store(0, std::memory_order_seq_cst);
}

} // namespace fpga_verbs::board
