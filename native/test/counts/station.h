#pragma once

#include "board/emulated_board.h"
#include "board/watch_memory.h"
#include "spec/commands.h"
#include "test/host/host_driver.h"
#include "test/host/host_queues.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace fpga_verbs::test {

// One of two boards, with a queue pair that is connected to the other board's.
class Station {
public:
  Station();

  bool made() const {
    return board_ != nullptr && sent_.key != 0 && received_.key != 0 && queue_pair_->number() != 0;
  }
  bool connect(const Station& peer);
  uint64_t steps() { return board_->counters().steps; }

  void post_receive(uint32_t bytes);
  // Posts a command that names `bytes` of local memory, and stores it to a VCB; ring() issues the fence.
  void store(spec::Opcode opcode, const Station& peer, uint32_t bytes, bool signaled);
  // The same with the data inline.
  void store_inline(spec::Opcode opcode, const Station& peer, uint32_t bytes, bool signaled);
  void ring();

  // Turns kick records on.
  void record_kicks();
  // Consumes the records of this many sent commands. Returns false if they are missing.
  bool take_kick_records(unsigned commands);

  // Makes the device write the observations that the watch page, `hca kicks` and `hca top` read. No observer
  // reads them: an observer would be another process, which costs the device nothing. Returns false if memory
  // is missing.
  bool be_watched();

  // Polls until a completion arrives, and lets the device work meanwhile. Returns false if it reports a
  // failure.
  bool complete();

private:
  std::shared_ptr<board::EmulatedBoard> board_;
  std::unique_ptr<HostDriver> driver_;
  // Registered with every right.
  struct Region {
    HostMemory memory;
    uint32_t key = 0;
  };

  Region make_region(uint32_t protection_domain);
  void store(spec::CommandHeader& header, const Station& peer, bool signaled,
             std::span<const uint8_t> payload);

  Region sent_;
  Region received_;
  std::unique_ptr<HostCompletionQueue> completion_queue_;
  std::unique_ptr<HostQueuePair> queue_pair_;
  unsigned next_collect_buffer_ = 0;
  HostMemory kick_records_;
  HostMemory kick_record_head_;
  uint32_t kick_records_taken_ = 0;
  std::vector<std::unique_ptr<board::Watch>> watches_;
};

} // namespace fpga_verbs::test
