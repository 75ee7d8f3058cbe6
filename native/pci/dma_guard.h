#pragma once

#include <memory>
#include <string>
#include <sys/types.h>

namespace fpga_verbs::pci {

// A process beside this one that ends a function's DMA if this process dies. If this process ends without
// closing the function, for example by SIGKILL, the guard clears the bus master bit. Until then it holds the
// DMA memory, so that the kernel gives it to no other process, and the lock of the function.
class DmaGuard {
public:
  // Starts the guard. `configuration`: the file of the configuration space; `memory`: that of the memory.
  // Null: `failure` gives the reason.
  static std::unique_ptr<DmaGuard> start(int configuration, int memory, std::string& failure);

  // The function is not bus master any more: the guard ends.
  ~DmaGuard();
  DmaGuard(const DmaGuard&) = delete;
  DmaGuard& operator=(const DmaGuard&) = delete;

private:
  DmaGuard(pid_t process, int line) : process_(process), line_(line) {}

  pid_t process_;
  int line_; // its end is what the other waits for
};

} // namespace fpga_verbs::pci
