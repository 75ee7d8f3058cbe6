#pragma once

#include <functional>
#include <thread>

namespace fpga_verbs::board {

// Starts a thread that takes no signals and runs on `cpu`, or for a negative one on the CPUs that the process
// had when it began: it does not inherit the CPU that its maker happens to be pinned to.
std::thread start_device_thread(int cpu, std::function<void()> run);

// Pins the calling thread; false: there is no such CPU, or it is not ours.
bool pin_to_cpu(int cpu);

} // namespace fpga_verbs::board
