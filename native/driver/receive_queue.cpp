#include "driver/receive_queue.h"

#include "driver/explanation.h"

#include <cerrno>

namespace fpga_verbs::driver {

bool ReceiveArea::begin(DeviceFunction& function, uint32_t entries, uint32_t scatter_entries) {
  scatter_entries_ = scatter_entries;
  tail_ = function.allocate(sizeof(spec::ReceiveQueueTail));
  const size_t largest = sizeof(spec::ReceiveEntryHeader) + scatter_entries * sizeof(Segment);
  return tail_ && area_.begin(function, log2_of(entries), largest);
}

bool ReceiveArea::grow(DeviceFunction& function, const ReceiveArea& other, unsigned entries_log2,
                       uint16_t next) {
  scatter_entries_ = other.scatter_entries_;
  tail_ = other.tail_;
  const size_t largest = sizeof(spec::ReceiveEntryHeader) + scatter_entries_ * sizeof(Segment);
  if (!area_.begin(function, entries_log2, largest))
    return false;
  area_.copy(other.area_, next);
  return true;
}

void ReceiveArea::free(DeviceFunction& function) {
  area_.free(function);
  function.free(tail_);
  tail_ = {};
}

void ReceiveArea::put(uint64_t id, std::span<const Segment> scatter, uint16_t sequence_number,
                      uint32_t place) {
  spec::ReceiveEntryHeader header;
  header.set_scatter_count(static_cast<uint32_t>(scatter.size()));
  header.set_sequence_number(sequence_number);
  uint8_t* const entry = area_.entry(place);
  std::memcpy(entry, &header, sizeof header);
  if (!scatter.empty())
    std::memcpy(entry + sizeof header, scatter.data(), scatter.size_bytes());
  area_.id(place) = id;
  area_.refer(sequence_number, place, sizeof header + scatter.size_bytes());
}

int ReceiveQueue::put(uint64_t id, std::span<const Segment> scatter) {
  const uint16_t number = next_.load(std::memory_order_relaxed);
  const uint32_t entries = memory_.area().entries();
  if (static_cast<uint16_t>(number - completed_.load(std::memory_order_acquire)) >= entries)
    return explain(ENOMEM, "the receive queue is full: " + std::to_string(entries) +
                               " work requests are not completed; poll completions");
  if (scatter.size() > memory_.scatter_entries())
    return explain(EINVAL, "num_sge is " + std::to_string(scatter.size()) +
                               "; the queue pair was created with max_recv_sge " +
                               std::to_string(memory_.scatter_entries()));
  memory_.put(id, scatter, number, number & (entries - 1));
  next_.store(static_cast<uint16_t>(number + 1), std::memory_order_seq_cst);
  return 0;
}

} // namespace fpga_verbs::driver
