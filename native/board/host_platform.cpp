#include "board/host_platform.h"

#include "board/processor.h"

#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fpga_verbs::board {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

void HostPlatform::wait(Atomic<uint32_t>& word, uint32_t value, uint64_t nanoseconds) {
  constexpr uint64_t second = 1'000'000'000;
  const timespec limit{static_cast<time_t>(nanoseconds / second), static_cast<long>(nanoseconds % second)};
  // Returns at once if the word has already changed; a signal or a late wake-up costs one idle check for
  // work.
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nanoseconds == for_ever ? nullptr : &limit, nullptr,
          0);
}

void HostPlatform::wake(Atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void HostPlatform::Spin::wait() {
  constexpr unsigned looks_before_yield = 1000;
  if (++looks_ % looks_before_yield == 0)
    sched_yield();
  else
    relax_processor();
}

} // namespace fpga_verbs::board
