#pragma once

#include "spec/enums.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

// Descriptions of existing objects for observers: copies, which change nothing. Numbers are those of the
// contexts of fpga/spec.

// A queue pair; or, with time_wait_left, a number in time-wait, of which the rest is 0 but the queue pair
// that had it and that one's function.
struct QueuePairFacts {
  uint32_t number = 0;
  uint32_t virtual_queue_pair = 0; // the number that peers know
  uint32_t time_wait_left = 0;     // microseconds
  uint32_t underlying_function = 0;
  spec::ServiceType service_type = spec::ServiceType::reliable_connection;
  spec::QueuePairState state = spec::QueuePairState::reset;
  spec::QualityOfServiceLevel level = spec::QualityOfServiceLevel::low;
  spec::SendHold hold = spec::SendHold::none;
  uint32_t protection_domain = 0;
  uint32_t port = 0;
  uint32_t send_completion_queue = 0;
  uint32_t receive_completion_queue = 0;
  uint32_t shared_receive_queue = 0;   // 0: none
  uint32_t destination_queue_pair = 0; // of connections
  std::array<uint8_t, 16> destination_gid{};
  uint16_t destination_local_identifier = 0;
  uint16_t next = 0;         // sequence numbers of the send queue: to execute,
  uint16_t posted = 0;       // newest known,
  uint16_t acknowledged = 0; // oldest not acknowledged
  uint16_t receive_head = 0; // of the receive queue
  uint16_t receive_tail = 0;
  uint32_t next_psn = 0;
  uint32_t expected_psn = 0;
};

// A memory region, or a window.
struct RegionFacts {
  uint32_t key = 0;
  uint32_t underlying_function = 0;
  uint32_t protection_domain = 0;
  uint32_t access_flags = 0; // of spec::AccessFlag, a bit each
  uint64_t base = 0;
  uint64_t length = 0; // bytes
  uint32_t page_log2 = 0;
  uint32_t in_flight = 0; // accesses that last longer than a step
  uint32_t windows = 0;   // bound to the region
  bool is_window = false;
  bool quiesced = false; // no new access
};

// Objects of the functions in a mask, from an index on: an observer requests them piece by piece.
struct Inspection {
  uint32_t functions = 0;
  uint32_t from = 0;
};
inline constexpr size_t most_inspected = 32; // objects of a piece

} // namespace fpga_verbs::hca
