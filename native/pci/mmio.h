#pragma once

#include <cstdint>

namespace fpga_verbs::pci {

// Accesses to a BAR that is mapped into this process, one transaction each: neither split, merged nor left
// out by the compiler. PCIe keeps them in order among themselves where the mapping is uncached.

inline uint32_t mmio_read32(const volatile uint8_t* address) {
  return *reinterpret_cast<const volatile uint32_t*>(address);
}

inline void mmio_write32(volatile uint8_t* address, uint32_t value) {
  *reinterpret_cast<volatile uint32_t*>(address) = value;
}

inline void mmio_write64(volatile uint8_t* address, uint64_t value) {
  *reinterpret_cast<volatile uint64_t*>(address) = value;
}

// Barriers, named for what they are for. The processor's own ordering differs: x86 keeps stores to uncached
// memory behind earlier stores by itself, but not those that combine (Intel SDM volume 3, 12.2.2 and 12.3);
// Arm keeps neither.

// Host memory that was written before it is seen by a device that a register written after it sets to work.
inline void host_memory_before_register() {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// The same for a command that is written through a mapping that combines.
inline void host_memory_before_command() {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#else
  host_memory_before_register();
#endif
}

// A register that was read before it says that the device has written host memory that is read after it.
inline void register_before_host_memory() {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb oshld" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// Drains what combines: stores before it leave the processor before stores after it.
inline void flush_write_combining() {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

} // namespace fpga_verbs::pci
