#pragma once

#include <memory>
#include <string>
#include <sys/types.h>

namespace fpga_verbs::pci {

// A process beside this one, which a function's DMA must not outlive. Where this one ends without having
// closed the function, as by SIGKILL, the other takes bus mastering from it. It holds the memory that the
// device reaches until then, so that it is not given to another process, and the lock of the function.
class DmaGuard {
public:
  // Starts it. `configuration`: the file of the configuration space; `memory`: that of the memory. Null:
  // `failure` says why.
  static std::unique_ptr<DmaGuard> start(int configuration, int memory, std::string& failure);

  // The function is no bus master any more: the other process ends.
  ~DmaGuard();
  DmaGuard(const DmaGuard&) = delete;
  DmaGuard& operator=(const DmaGuard&) = delete;

private:
  DmaGuard(pid_t process, int line) : process_(process), line_(line) {}

  pid_t process_;
  int line_; // its end is what the other waits for
};

} // namespace fpga_verbs::pci
