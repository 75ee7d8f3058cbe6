#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fpga_verbs::pci {

// Handles faults of accesses to a mapped BAR, when the function is gone or no longer answers to memory
// accesses. The kernel then removes the pages, and an access raises SIGBUS, which would end the process. The
// handler of this process maps a page of ones there, so that reads return all ones and writes have no effect,
// and signals the function's event. For a SIGBUS at any other address it calls the previous handler.
class BarFaults {
public:
  BarFaults();
  ~BarFaults();
  BarFaults(const BarFaults&) = delete;
  BarFaults& operator=(const BarFaults&) = delete;

  // Watches `bytes` at `memory`, whole pages, until forget(). False: errno says why.
  bool watch(volatile uint8_t* memory, size_t bytes);
  // Stops watching, before the memory is unmapped.
  void forget();

  // Whether an access has faulted.
  bool happened() const { return happened_.load(std::memory_order_relaxed); }
  // An eventfd that becomes readable on a fault; negative: none was left.
  int event() const { return event_; }

  // Called by the signal handler: maps a page of ones over the page of `address`; returns whether that page
  // is one now.
  static bool cover(uintptr_t address);

private:
  std::atomic<bool> happened_ = false;
  int event_;
};

} // namespace fpga_verbs::pci
