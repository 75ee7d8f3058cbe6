#pragma once

#include "board/bar_map.h"
#include "board/board_counters.h"
#include "board/device.h"
#include "board/fault_rules.h"
#include "board/held_writes.h"
#include "board/transaction.h"
#include "board/transaction_ring.h"
#include "board/transaction_trace.h"
#include "board/wakeups.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace fpga_verbs::board {

// How messages to a BAR are split into transactions: the widest store, and the limit of a bridge in front of
// the board.
struct TransactionSizes {
  unsigned prefetchable_bytes = 64; // 64, or 8 where it is mapped uncached
  unsigned bridge_bytes = 64;       // 64, or 4 behind a 32-bit bridge
};

// The device's end of the PCIe link. It takes messages from the ring, splits them into transactions, injects
// faults, records transactions, delivers them to the device and answers reads; it also steps the device.
// Under the board's lock.
class DeviceSide {
public:
  DeviceSide(TransactionRing& ring, Device& device, const hca::Clock& clock, FaultRules& faults,
             TransactionTrace& trace, BoardCounters& counters, Wakeups& wakeups, TransactionSizes sizes);

  // Does up to `limit` units of work, messages and steps of the device alternately. Returns the number done;
  // if fewer, the device is idle.
  uint64_t work(uint64_t limit);

  // Does one unit of work: a transaction first, otherwise a step of the device. `passes_by`: in that step a
  // data unit may continue through the following blocks past links that are empty. False: idle.
  bool work_one(bool passes_by);

  // Delivers one transaction; steps the device only if it cannot accept it. False: there is none.
  bool deliver_one();

  // Replays a recorded transaction after all queued ones. For a read: whether the answer equals the recorded
  // one.
  bool play(const Transaction& transaction);

  // Delivers the writes that faults hold back.
  void release_held();

  // The clock tick of the next timer; no_deadline: none.
  uint64_t next_deadline() const { return std::min(device_deadline_, held_.next_deadline()); }

  const BarMap& map() const { return map_; }

private:
  bool message_left() const { return message_done_ < message_.length; }
  bool is_plain() const { return !faults_.any() && !held_.any() && !trace_.on(); }
  [[gnu::always_inline]] inline bool next_message();
  bool take_message();
  uint64_t deliver_burst();
  void deliver_next();
  void answer_read();
  [[gnu::always_inline]] inline unsigned run(unsigned limit);
  void take_notice();
  void flip_bits();
  bool wake_when_due();
  void wait_until_accepted();
  void release_due(bool all);
  void arrive(const Transaction& transaction);
  void tear(const Transaction& transaction, uint32_t double_words);
  void record_and_write(Transaction transaction);
  void write(unsigned underlying_function, unsigned bar, uint64_t offset, uint64_t byte_enables,
             const uint8_t* data, unsigned length);
  void write_at(const BarMap::Place& place, unsigned underlying_function, uint64_t byte_enables,
                const uint8_t* data, unsigned length);
  uint32_t read(unsigned underlying_function, unsigned bar, uint64_t offset);

  TransactionRing& ring_;
  Device& device_;
  const hca::Clock& clock_;
  FaultRules& faults_;
  TransactionTrace& trace_;
  BoardCounters& counters_;
  Wakeups& wakeups_;
  BarMap map_;
  TransactionSizes sizes_;
  HeldWrites held_;
  Message message_;                        // being delivered
  hca::BarWrite burst_;                    // all of it, if it goes to one page; otherwise to no region
  unsigned message_done_ = 0;              // bytes of it that are delivered
  bool cuts_lines_;                        // some messages are cut into less than whole lines
  unsigned cut_bytes_ = 64;                // how it is cut
  bool device_busy_ = true;                // the device may have something to do
  uint64_t device_deadline_ = no_deadline; // of an idle device
};

} // namespace fpga_verbs::board
