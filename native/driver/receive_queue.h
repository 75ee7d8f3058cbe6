#pragma once

#include "driver/work_queue.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace fpga_verbs::driver {

// Memory of a receive queue: its entries, and a tail record that is stored last and read by the device when
// it needs it.
class ReceiveArea {
public:
  // False: no memory is left.
  bool begin(DeviceFunction& function, uint32_t entries, uint32_t scatter_entries);
  // A larger one with the same tail record, which holds what `other` holds; `next` is posted next.
  bool grow(DeviceFunction& function, const ReceiveArea& other, unsigned entries_log2, uint16_t next);
  void free(DeviceFunction& function);
  // As free(), where another area has its tail record.
  void free_entries(DeviceFunction& function) { area_.free(function); }

  WorkQueueArea& area() { return area_; }
  const WorkQueueArea& area() const { return area_; }
  uint32_t scatter_entries() const { return scatter_entries_; }
  uint64_t tail_address() const { return tail_.address; }

  // Encodes a work request at a place.
  void put(uint64_t id, std::span<const Segment> scatter, uint16_t sequence_number, uint32_t place);
  // After the entries, and seen by the device after them.
  void store_tail(uint16_t next) {
    spec::ReceiveQueueTail tail;
    tail.set_tail(next);
    tail_.record().store(tail.dwords[0], std::memory_order_seq_cst);
  }

private:
  WorkQueueArea area_;
  uint32_t scatter_entries_ = 0;
  DeviceMemory tail_;
};

// The receive queue of a queue pair. Posting is for one thread at a time.
class ReceiveQueue {
public:
  bool begin(DeviceFunction& function, uint32_t entries, uint32_t scatter_entries) {
    return memory_.begin(function, entries, scatter_entries);
  }
  void free(DeviceFunction& function) { memory_.free(function); }
  const ReceiveArea& memory() const { return memory_; }
  uint16_t next() const { return next_.load(std::memory_order_seq_cst); }

  // Gives 0, or ENOMEM: the queue is full; EINVAL: more entries than it was made for. The device sees it at
  // store_tail().
  int put(uint64_t id, std::span<const Segment> scatter);
  void store_tail() { memory_.store_tail(next_.load(std::memory_order_relaxed)); }

  uint64_t complete(uint16_t sequence_number) {
    const uint64_t id = memory_.area().id(sequence_number & (memory_.area().entries() - 1));
    completed_.store(static_cast<uint16_t>(sequence_number + 1), std::memory_order_release);
    return id;
  }
  void reset() {
    next_.store(0);
    completed_.store(0);
    memory_.store_tail(0);
  }

private:
  ReceiveArea memory_;
  std::atomic<uint16_t> next_{0};
  std::atomic<uint16_t> completed_{0}; // numbers before it are
};

} // namespace fpga_verbs::driver
