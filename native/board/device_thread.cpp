#include "board/device_thread.h"

#include <csignal>
#include <pthread.h>
#include <sched.h>
#include <utility>

namespace fpga_verbs::board {

namespace {

cpu_set_t affinity_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

// Read when the code is loaded, before any thread is pinned.
const cpu_set_t process_affinity = affinity_of_this_thread();

} // namespace

bool pin_to_cpu(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE)
    return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

std::thread start_device_thread(int cpu, std::function<void()> run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // inherited by the thread
  std::thread thread([cpu, run = std::move(run)] {
    if (!pin_to_cpu(cpu))
      sched_setaffinity(0, sizeof process_affinity, &process_affinity);
    run();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), "fpga-verbs");
  return thread;
}

} // namespace fpga_verbs::board
