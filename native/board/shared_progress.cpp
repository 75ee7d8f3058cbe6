#include "board/device_thread.h"
#include "board/neighbours.h"
#include "board/progress.h"

#include <sched.h>

namespace fpga_verbs::board {

namespace {

// What a caller does at once before it leaves the rest to the thread: enough for any batch, and well under a
// millisecond.
constexpr uint64_t work_of_a_caller = 1024;
constexpr uint64_t work_of_the_thread = 4096;

} // namespace

SharedProgress::SharedProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock)
    : device_(device), ring_(ring), clock_(clock), thread_(start_device_thread(-1, [this] { run(); })) {}

SharedProgress::~SharedProgress() {
  stop_.store(true, std::memory_order_seq_cst);
  leave_to_thread();
  thread_.join();
}

void SharedProgress::posted() { work_of_caller(); }

void SharedProgress::make_room() {
  if (!work_of_caller())
    sched_yield(); // somebody else has the device
}

bool SharedProgress::advance() { return work_of_caller(); }

void SharedProgress::attend(bool drive) {
  if (drive)
    work_of_caller();
  else
    leave_to_thread();
}

// What the device sends to boards of other threads' or this one's is taken there on this thread too.
bool SharedProgress::work_of_caller() {
  return Neighbours::here().collect([this] { return work(work_of_a_caller); });
}

// Whoever misses the lock leaves its transactions to the holder, who looks for them after unlocking. Gives
// whether anything was done.
bool SharedProgress::work(uint64_t limit) {
  bool worked = false;
  do {
    if (!lock_.try_lock())
      return worked;
    const uint64_t done = device_.work(limit);
    worked = worked || done != 0;
    announce_deadline();
    lock_.unlock();
    if (done >= limit) {
      leave_to_thread();
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
  if (deadline < sleeping_until_.load(std::memory_order_seq_cst))
    sleeper_.wake();
}

void SharedProgress::leave_to_thread() {
  left_over_.store(true, std::memory_order_seq_cst);
  sleeper_.wake();
}

void SharedProgress::run() {
  while (!stop_.load(std::memory_order_relaxed)) {
    left_over_.store(false, std::memory_order_seq_cst);
    work(work_of_the_thread);
    sleeper_.announce();
    const uint64_t until = deadline_.load(std::memory_order_seq_cst);
    sleeping_until_.store(until, std::memory_order_seq_cst);
    const uint64_t now = clock_.now();
    if (left_over_.load(std::memory_order_seq_cst) || deadline_.load(std::memory_order_seq_cst) != until ||
        until <= now)
      sleeper_.call_off();
    else
      sleeper_.sleep(until == no_deadline ? Sleeper::forever : clock_.nanoseconds(until - now));
    sleeping_until_.store(0, std::memory_order_seq_cst);
  }
}

} // namespace fpga_verbs::board
