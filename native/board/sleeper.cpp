#include "board/sleeper.h"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fpga_verbs::board {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

void Sleeper::sleep(uint64_t nanoseconds) {
  constexpr uint64_t second = 1'000'000'000;
  const timespec limit{static_cast<time_t>(nanoseconds / second), static_cast<long>(nanoseconds % second)};
  // Returns at once where somebody has already woken us; a signal or a late wake is one idle look for work.
  syscall(SYS_futex, &asleep_, FUTEX_WAIT_PRIVATE, 1, nanoseconds == forever ? nullptr : &limit, nullptr, 0);
  call_off();
}

void Sleeper::wake_thread() {
  if (asleep_.exchange(0, std::memory_order_seq_cst) != 0)
    syscall(SYS_futex, &asleep_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

} // namespace fpga_verbs::board
