#pragma once

#include "hca/queue_pair/transport_context.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace fpga_verbs::hca {

// An RDMA READ or atomic that a responder has accepted.
struct ResponderResource {
  bool is_read = false;
  uint32_t psn = 0;
  uint32_t packets = 0; // PSNs that it takes
  uint32_t remote_key = 0;
  uint32_t length = 0; // bytes, of a READ
  uint64_t address = 0;
  uint64_t original_data = 0; // of an atomic, once it is executed
};

// The newest READs and atomics of each queue pair, by PSN. The responder answers a duplicate READ that
// requests a part of the original range, and a duplicate atomic with the original result; at the PSN of
// another operation it answers nothing (InfiniBand volume 1, 9.4.5 and 9.7.5.1). A requester has at most as
// many outstanding as the responder has resources, so it can never repeat older ones.
//
// They are stored on the device, in a ring for each queue pair that has accepted one, allocated at its first:
// 40 B times its read_atomic_maximum. The responder part of the context holds the end of the ring and the
// number of entries that belong to this connection.
class ResponderResources {
public:
  explicit ResponderResources(uint32_t queue_pairs) : rings_(queue_pairs) {}

  // Adds a request that receive has accepted.
  void add(uint32_t queue_pair_number, TransportResponder& responder, const ResponderResource& resource);

  // The entry that contains the PSN, among the newest `depth`, or null.
  ResponderResource* find(uint32_t queue_pair_number, const TransportResponder& responder, uint32_t psn,
                          uint32_t depth = spec::read_atomic_maximum) const;

private:
  using Ring = std::array<ResponderResource, spec::read_atomic_maximum>;

  std::vector<std::unique_ptr<Ring>> rings_; // by index of the queue pair
};

} // namespace fpga_verbs::hca
