#pragma once

#include "spec/queues.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The interface through which the device reports activity to observers, in addition to the host's rings.
// Called while the device works: a call stores its argument and never waits.
class WatchPort {
public:
  virtual ~WatchPort() = default;

  // The record as in the ring of kick records, except that `dropped`, `phase` and `sequence` are zero.
  virtual void kick_record(const spec::KickRecord& record) = 0;

  // An asynchronous event of a function, even if its event queue has no room; `lost`, `phase` and `sequence`
  // are zero.
  virtual void event(unsigned underlying_function, const spec::EventQueueEntry& event) = 0;

  // A completion as written to a completion queue of a function.
  virtual void completion(unsigned underlying_function, const spec::CompletionQueueEntry& entry) = 0;
};

// The functions about which a port receives reports, one bit each.
struct Watched {
  WatchPort* port = nullptr; // not null where a bit is set
  uint32_t kicks = 0;
  uint32_t events = 0;
  uint32_t completions = 0;
};

} // namespace fpga_verbs::hca
