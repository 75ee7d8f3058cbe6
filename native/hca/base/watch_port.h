#pragma once

#include "spec/queues.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Where the device tells an observer, beside the host's rings, what its functions do. Called while the device
// works: the call takes what it is told and never waits.
class WatchPort {
public:
  virtual ~WatchPort() = default;

  // As the ring of kick records would have it, but for `dropped`, `phase` and `sequence`, which are zero.
  virtual void kick_record(const spec::KickRecord& record) = 0;

  // An asynchronous event of a function, whether or not its event queue has room; `lost`, `phase` and
  // `sequence` are zero.
  virtual void event(unsigned underlying_function, const spec::EventQueueEntry& event) = 0;

  // As it was written into a completion queue of a function.
  virtual void completion(unsigned underlying_function, const spec::CompletionQueueEntry& entry) = 0;
};

// The functions that a port is told of, a bit each.
struct Watched {
  WatchPort* port = nullptr; // not null where a bit is set
  uint32_t kicks = 0;
  uint32_t events = 0;
  uint32_t completions = 0;
};

} // namespace fpga_verbs::hca
