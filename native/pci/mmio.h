#pragma once

#include <cstdint>

namespace fpga_verbs::pci {

// Accesses to a mapped BAR, one transaction each: the compiler neither splits, merges nor omits them. PCIe
// keeps them in order if the mapping is uncached.

inline uint32_t mmio_read32(const volatile uint8_t* address) {
  return *reinterpret_cast<const volatile uint32_t*>(address);
}

inline void mmio_write32(volatile uint8_t* address, uint32_t value) {
  *reinterpret_cast<volatile uint32_t*>(address) = value;
}

inline void mmio_write64(volatile uint8_t* address, uint64_t value) {
  *reinterpret_cast<volatile uint64_t*>(address) = value;
}

// Barriers, named for their purpose. The processors' own ordering differs: x86 orders stores to uncached
// memory behind earlier stores, but not write-combining stores (Intel SDM volume 3, 12.2.2 and 12.3); Arm
// orders neither.

// Orders earlier writes to host memory before a register write that starts the device.
inline void host_memory_before_register() {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// The same for a command written through a write-combining mapping.
inline void host_memory_before_command() {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#else
  host_memory_before_register();
#endif
}

// Orders a register read before later reads of host memory that the device has written.
inline void register_before_host_memory() {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb oshld" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// Flushes the write-combining buffers: stores before it leave the processor before stores after it.
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
