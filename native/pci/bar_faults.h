#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fpga_verbs::pci {

// Faults of accesses to a BAR that is mapped into this process, when the function is gone or does not
// answer to memory accesses any more: the kernel takes the pages away, and an access is a SIGBUS, which would
// end the process. The handler of this process maps a page of ones over the page, so that a read gives all
// ones and a write goes nowhere, and tells the function's event. A SIGBUS at any other address goes to the
// handler that was there before.
class BarFaults {
public:
  BarFaults();
  ~BarFaults();
  BarFaults(const BarFaults&) = delete;
  BarFaults& operator=(const BarFaults&) = delete;

  // Watches `bytes` at `memory`, whole pages, until forget(). False: errno says why.
  bool watch(volatile uint8_t* memory, size_t bytes);
  // Watches nothing any more: before it is unmapped.
  void forget();

  // There was an access to what is not there any more.
  bool happened() const { return happened_.load(std::memory_order_relaxed); }
  // An eventfd that becomes readable then; negative: none was left.
  int event() const { return event_; }

  // Called by the signal handler: whether the page of `address` is a page of ones by now.
  static bool cover(uintptr_t address);

private:
  std::atomic<bool> happened_ = false;
  int event_;
};

} // namespace fpga_verbs::pci
