#pragma once

#include "board/observation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fpga_verbs::served {

// The messages between a client and its server on their socket: a request of the client, and the server's
// reply with at most one descriptor. The data path is separate: served_page.h.

inline constexpr uint64_t protocol_magic = 0x3176'7265'7367'7066; // "fpgserv1"

enum class RequestKind : uint32_t {
  look,      // what is served?
  open,      // `number`: underlying function, or any_function; comes back with the ServedPage
  allocate,  // `value` bytes; comes back with the memory, and its DMA address in `value`
  release,   // the memory at DMA address `value`
  interrupt, // vector `number`; comes back with an eventfd
  wake,      // there is something in the ring; has no reply
  observe,   // `number`: underlying function, also one that is open; comes back with a ServedPage to look
             // through
  // Of an observer:
  watch,       // `number`: board::WatchKind; comes back with the memory of its ring, to be read
  unwatch,     // `number`: board::WatchKind; has no reply
  queue_pairs, // from index `number` on; behind the reply come hca::QueuePairFacts, and in `value` the index
               // to go on from, or 0
  regions,     // the same with hca::RegionFacts
};

inline constexpr uint32_t any_function = ~uint32_t{0};

struct Request {
  uint64_t magic = protocol_magic;
  RequestKind kind = RequestKind::look;
  uint32_t number = 0;
  uint64_t value = 0;
};

enum class Status : uint32_t {
  ok,
  not_served, // there is no such function, or it is not for clients
  taken,      // another client has the function: `value` is its process
  all_taken,
  exhausted, // memory, DMA addresses, or what one client may have of them
  invalid,   // no such vector, no such memory, or not in this order
};

struct Reply {
  uint64_t magic = protocol_magic;
  Status status = Status::ok;
  uint32_t number = 0;         // open, observe: the function. look: functions of the board
  uint64_t value = 0;          // look: bit per function that is open
  uint32_t first_function = 0; // that is served; look, open, and not_served
  uint32_t functions = 0;      // of the board
  // open, observe
  uint32_t mapping = 0; // board::CommandMapping
  uint32_t store_bytes = 0;
  uint32_t interrupt_vectors = 0;
  std::array<char, 32> clock{}; // ends with 0
};
static_assert(std::is_trivially_copyable_v<Request> && std::is_trivially_copyable_v<Reply> &&
              std::is_trivially_copyable_v<hca::QueuePairFacts> &&
              std::is_trivially_copyable_v<hca::RegionFacts>);

// Size limit of the data behind a reply.
inline constexpr size_t longest_list =
    hca::most_inspected * std::max(sizeof(hca::QueuePairFacts), sizeof(hca::RegionFacts));

} // namespace fpga_verbs::served
