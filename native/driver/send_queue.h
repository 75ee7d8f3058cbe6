#pragma once

#include "driver/collect_buffers.h"
#include "driver/work_queue.h"
#include "spec/commands.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace fpga_verbs::driver {

// A send work request, as the device takes it.
struct SendRequest {
  uint64_t id = 0;
  // Opcode, flags, keys, addresses, operands: what depends on the queue is added.
  spec::CommandHeader header;
  std::span<const Segment> gather;          // of what is sent, or where what returns goes
  std::span<const Segment> inline_data;     // instead: pieces of the program's own memory, copied at once
  const spec::BindEntry* binding = nullptr; // of a bind
};

// The send queue of a queue pair in host memory. A command is encoded once, in its entry; that is copied to a
// virtual collect buffer, and what the device fetches when it found no physical collect buffer. Posting is
// for one thread at a time.
class SendQueue {
public:
  // False: no memory is left.
  bool begin(DeviceFunction& function, uint32_t entries, uint32_t gather_entries, uint32_t inline_bytes);
  void free(DeviceFunction& function) { area_.free(function); }
  const WorkQueueArea& area() const { return area_; }
  uint32_t gather_entries() const { return gather_entries_; }
  uint32_t inline_bytes() const { return inline_bytes_; }
  uint16_t outstanding() const {
    return static_cast<uint16_t>(next_.load(std::memory_order_relaxed) -
                                 completed_.load(std::memory_order_acquire));
  }
  uint16_t next() const { return next_.load(std::memory_order_acquire); }
  // Changes whenever something is posted or completed.
  uint32_t mark() const { return uint32_t{next()} << 16 | completed_.load(std::memory_order_acquire); }

  // Encodes a work request in its entry. Gives 0, or ENOMEM: the queue is full; EINVAL: more data or entries
  // than it was made for.
  int put(uint32_t queue_pair_number, const SendRequest& request);
  // Copies what was put last to a collect buffer.
  void write(CollectBuffer& buffer) const { buffer.write(area_.entry(place_), bytes_); }
  // Has the device fetch all that is posted.
  void start(uint32_t queue_pair_number, CollectBuffer& buffer) const {
    buffer.start(queue_pair_number, static_cast<uint16_t>(next() - 1));
  }

  // A completion named this number: it and all before it are completed. Gives the identifier.
  uint64_t complete(uint16_t sequence_number) {
    const uint64_t id = area_.id(sequence_number & (area_.entries() - 1));
    completed_.store(static_cast<uint16_t>(sequence_number + 1), std::memory_order_release);
    return id;
  }
  // Empty, and begins with number 0 again.
  void reset() {
    next_.store(0, std::memory_order_release);
    completed_.store(0, std::memory_order_release);
  }

private:
  int put_inline(uint8_t* payload, std::span<const Segment> pieces, size_t& length) const;

  WorkQueueArea area_;
  uint32_t gather_entries_ = 0;
  uint32_t inline_bytes_ = 0;
  std::atomic<uint16_t> next_{0};
  std::atomic<uint16_t> completed_{0}; // numbers before it are
  uint32_t place_ = 0;                 // of what was put last
  size_t bytes_ = 0;
};

} // namespace fpga_verbs::driver
