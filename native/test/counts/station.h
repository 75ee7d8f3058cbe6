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

// One of two boards, with a queue pair that is connected to the other's.
class Station {
public:
  Station();

  bool made() const {
    return board_ != nullptr && sent_.key != 0 && received_.key != 0 && queue_pair_->number() != 0;
  }
  bool connect(const Station& peer);
  uint64_t steps() { return board_->counters().steps; }

  void post_receive(uint32_t bytes);
  // Puts a command that names `bytes` of own memory into the send queue and stores it to a VCB; ring() fences
  // what is stored.
  void store(spec::Opcode opcode, const Station& peer, uint32_t bytes, bool signaled);
  // The same with the bytes in the command.
  void store_inline(spec::Opcode opcode, const Station& peer, uint32_t bytes, bool signaled);
  void ring();

  // From now on the device writes kick records.
  void record_kicks();
  // Takes the records of so many commands that have been sent. False: they are not there.
  bool take_kick_records(unsigned commands);

  // From now on the device tells observers what a page, `hca kicks` and `hca top` watch. They do not read: in
  // processes of their own they do, which costs the device nothing. False: there is no memory for them.
  bool be_watched();

  // Polls until there is a completion, letting the device work. False: it tells of a failure.
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
