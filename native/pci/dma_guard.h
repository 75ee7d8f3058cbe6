#pragma once

#include <memory>
#include <string>

namespace fpga_verbs::pci {

// A process beside this one that ends a function's DMA if this process dies. If this process ends without
// closing the function, for example by SIGKILL, the guard clears the bus master bit. Until then it holds the
// DMA memory, so that the kernel gives it to no other process, and the lock of the function. It is no child
// of this process: wait() of the program does not see it.
class DmaGuard {
public:
  // Files that the guard holds open.
  struct Files {
    int configuration; // of the configuration space
    int memory;        // of the memory
    int pins;          // of PinnedPages; negative: there is none
  };

  // Starts the guard. Null: `failure` gives the reason.
  static std::unique_ptr<DmaGuard> start(const Files& files, std::string& failure);

  // The function is not bus master any more: the guard ends.
  ~DmaGuard();
  DmaGuard(const DmaGuard&) = delete;
  DmaGuard& operator=(const DmaGuard&) = delete;

private:
  explicit DmaGuard(int line) : line_(line) {}

  int line_; // each process waits for the other's end of it
};

} // namespace fpga_verbs::pci
