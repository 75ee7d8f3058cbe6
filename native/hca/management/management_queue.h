#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "spec/commands.h"
#include "spec/parameters.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <array>
#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// The management send and completion queues of all functions, and the order of their commands.
//
// Every command is in the send queue under its sequence number; the management page and the doorbell are two
// ways to announce it. A command executes when its number is next. The device drops a command that comes
// through the page early and fetches it later. It also drops one whose number has passed, because it has
// executed before.
class ManagementQueue {
public:
  static constexpr unsigned largest_entries_log2 = 8;

  ManagementQueue(Counters& counters, HostPort& host, const Clock& clock, EventPort& events);

  // Registers of a function. False, without a change: too large, or not page-aligned. Size and send queue
  // address take effect with the next write of the completion queue address, which restarts both queues. No
  // command may be in the device then, otherwise its answer goes to the new queue.
  bool set_size(unsigned underlying_function, spec::underlying_function::ManagementQueueSize size);
  bool set_send_queue_address(unsigned underlying_function, uint64_t address);
  bool set_completion_queue_address(unsigned underlying_function, uint64_t address);
  spec::underlying_function::ManagementQueueSize size(unsigned underlying_function) const {
    return queues_[underlying_function].size;
  }
  uint64_t send_queue_address(unsigned underlying_function) const {
    return queues_[underlying_function].send_queue_address;
  }
  uint64_t completion_queue_address(unsigned underlying_function) const {
    return queues_[underlying_function].completion_queue_address;
  }

  // Announces the commands before the tail. A tail further ahead than the queue is long is refused and
  // counted.
  void doorbell(unsigned underlying_function, spec::underlying_function::ManagementDoorbell doorbell);

  // Whether a command from the management page executes now. False: drop it.
  bool accept(unsigned underlying_function, uint16_t sequence_number);

  // Whether a command must be fetched.
  bool has_work() const { return owed_ != 0; }

  struct Fetched {
    unsigned underlying_function = 0;
    uint16_t sequence_number = 0;
    spec::ManagementCommand command;
  };
  // Fetches the next command, functions in turn; it executes now. Nothing: it could not be read, and the
  // queue of its function stops until it is restarted.
  std::optional<Fetched> fetch();

  // Writes an answer, fills in phase, sequence and time stamp, and reports it.
  void complete(unsigned underlying_function, const spec::ManagementCompletion& completion);

  // Waker for a command to fetch.
  void on_command(Waker fetcher) { fetcher_ = fetcher; }

  void reset_function(unsigned underlying_function);
  void reset();

private:
  struct Queue {
    spec::underlying_function::ManagementQueueSize size;
    uint64_t send_queue_address = 0;
    uint64_t completion_queue_address = 0;
    // As they were when the queues were begun:
    bool begun = false;
    uint32_t entries = 0;
    uint64_t commands = 0; // DMA address of the send queue
    uint16_t next = 0;     // command to execute
    uint16_t tail = 0;     // after the newest command known
    uint32_t answers = 0;  // completions written
  };

  void set_tail(unsigned underlying_function, uint16_t tail);
  void update_owed(unsigned underlying_function);
  void report_fault(unsigned underlying_function, uint64_t address);

  Counters& counters_;
  HostPort& host_;
  const Clock& clock_;
  EventPort& events_;
  std::array<Queue, spec::underlying_functions> queues_{};
  uint32_t owed_ = 0; // functions with commands to fetch, a bit each
  unsigned last_ = 0; // function that was served last
  Waker fetcher_;
};

} // namespace fpga_verbs::hca
