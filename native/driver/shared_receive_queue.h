#pragma once

#include "driver/management_queue.h"
#include "driver/receive_queue.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::driver {

// A shared receive queue in the device, and its memory. Work requests that queue pairs take from it complete
// in any order: an entry is free when its own work request is completed. Thread-safe.
class SharedReceiveQueue {
public:
  SharedReceiveQueue(DeviceFunction& function, ManagementQueue& management)
      : function_(function), management_(management) {}
  ~SharedReceiveQueue() { memory_.free(function_); }

  // Each gives 0, or what a verb gives.
  int create(uint32_t protection_domain, uint32_t entries, uint32_t scatter_entries, uint32_t limit);
  int destroy();
  // Work requests that it takes, and the limit below which there is an event, once; what is missing stays.
  int modify(std::optional<uint32_t> entries, std::optional<uint32_t> limit);
  int query(uint32_t& limit);

  uint32_t number() const { return number_; }
  uint32_t entries();
  uint32_t scatter_entries() const { return memory_.scatter_entries(); }

  // ENOMEM: the queue is full; EINVAL: more entries than it was made for. Seen by the device at publish().
  int put(uint64_t id, std::span<const Segment> scatter);
  void publish();

  // The device is gone: what is posted from now on is refused.
  void lose();

  // The work request of this number is completed, and its entry free. Gives the identifier.
  uint64_t complete(uint16_t sequence_number);

private:
  int grow(unsigned entries_log2, std::optional<uint32_t> limit);

  DeviceFunction& function_;
  ManagementQueue& management_;
  uint32_t number_ = 0;
  std::mutex mutex_; // of what follows
  ReceiveArea memory_;
  uint32_t size_ = 0;              // work requests that it takes, as many as places or fewer
  std::vector<uint16_t> place_of_; // by sequence number
  std::vector<uint16_t> free_;     // places
  uint16_t next_ = 0;
};

} // namespace fpga_verbs::driver
