#pragma once

#include <functional>
#include <thread>

namespace fpga_verbs::board {

// Starts a thread that blocks all signals and runs on `cpu`. If `cpu` is negative, it runs on the CPUs that
// the process had at its start, not on a CPU to which the creating thread is pinned.
std::thread start_device_thread(int cpu, std::function<void()> run);

// Pins the calling thread; false: there is no such CPU, or the process may not use it.
bool pin_to_cpu(int cpu);

} // namespace fpga_verbs::board
