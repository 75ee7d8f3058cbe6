#pragma once

#include "hca/base/bit_mask.h"
#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/collect/bar_write.h"
#include "hca/collect/collect_group_table.h"
#include "hca/collect/half_written_list.h"
#include "hca/collect/kick_records.h"
#include "hca/collect/physical_collect_buffer.h"
#include "hca/collect/underlying_function_table.h"
#include "hca/collect/virtual_collect_buffer.h"
#include "hca/queue_pair/queue_pair_port.h"
#include "spec/data_units.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// Collects commands that are written to VCBs and management pages, piece by piece and in any order, and kicks
// each at the write that completes it (US8589610). Owns the VCBs, the PCBs and who may use them.
//
// The RTL can do its work: rtl::CollectBufferRtl lets it decide, and has what is kept here follow.
class CollectBuffer : public Block {
public:
  static constexpr uint64_t no_deadline = ~uint64_t{0};

  CollectBuffer(const HcaParameters& parameters, Counters& counters, const Clock& clock,
                QueuePairPort& queue_pairs, EventPort& events, KickRecords& kick_records,
                DataLink<spec::KickUnit, 128>& kicks_collected, DataLink<spec::PostNotice, 16>& post_notices,
                DataLink<spec::ManagementUnit, 16>& management_units);

  // Whether the links have the credits that any one write may need.
  bool can_accept_write() const;

  // A write to a VCB page. Only when can_accept_write().
  virtual void write(const BarWrite& write);

  // Writes to a VCB page that come together, in order, as one of up to 320 B with all byte enables set. Only
  // when can_accept_write(). False, and nothing has happened: write() has to take one after the other. The
  // time of the first write of a command that comes so is that of its kick.
  virtual bool write_burst(const BarWrite& burst);

  // A write to the management page of a function, offset counted in its register page. Only when
  // can_accept_write().
  virtual void write_management_page(unsigned underlying_function, const BarWrite& write);

  // Reports one half-written command that is over the limit.
  bool step() override;

  // Clock tick at which the oldest incomplete command passes the limit; no_deadline: none will.
  uint64_t next_deadline() const;
  void set_half_written_limit(uint64_t ticks) { half_written_limit_ = ticks; }
  uint64_t half_written_limit() const { return half_written_limit_; }

  // PCBs. A PCB in the hands of another block is released exactly once, by the block that has it last.
  PhysicalCollectBuffer& buffer(uint16_t buffer) { return buffers_[buffer]; }
  const PhysicalCollectBuffer& buffer(uint16_t buffer) const { return buffers_[buffer]; }
  virtual void release(uint16_t buffer);

  // A dedicated PCB to fetch a command into, in state fetching: for send_queue_scheduler, for
  // management_queue.
  virtual std::optional<uint16_t> take_dedicated();
  // Whether send_queue_scheduler has another one left when it takes one, or never has more than one.
  bool has_dedicated_to_spare() const;
  // Block to wake when a dedicated PCB is free again.
  void connect(Waker dedicated_freed) { dedicated_freed_ = dedicated_freed; }
  virtual std::optional<uint16_t> take_management();
  // A command has been read into the data of a PCB that was taken.
  virtual void fetched(uint16_t) {}

  // Number of the next kick, free-running.
  virtual uint32_t take_kick_number() { return kick_number_++; }

  // The lock of a dedicated PCB for the function's management page: the PCB, or nothing when all are taken. A
  // function that has one gets the same.
  virtual std::optional<uint16_t> lock_management(unsigned underlying_function);
  // Gives the lock back, with whatever was written.
  virtual void unlock_management(unsigned underlying_function);
  // Takes the lock of PCB `buffer` from its owner; nothing happens when it is not locked.
  void break_management_lock(uint16_t buffer);

  // VCBs.
  unsigned virtual_collect_buffers() const { return static_cast<unsigned>(virtual_.size()); }
  const VirtualCollectBuffer& virtual_collect_buffer(unsigned buffer) const { return virtual_[buffer]; }
  // Frees PCB and counts of an incomplete or refused command; a closed VCB stays closed.
  virtual void cancel(unsigned virtual_collect_buffer);
  virtual void close(unsigned virtual_collect_buffer);
  virtual void open(unsigned virtual_collect_buffer);

  // Division. VCBs that the new BAR adds or takes away must be closed; false, and nothing changed, when they
  // are not, or when the BAR overlaps another function's, leaves the board or has its dividers out of order.
  bool set_bar(unsigned underlying_function, const VirtualCollectBufferBar& bar);
  // All BARs at once; they pass set_bar()'s check in the end. VCBs that change their owner are closed, and
  // opened for the new one.
  void set_bars(const std::array<VirtualCollectBufferBar, spec::underlying_functions>& bars);
  const VirtualCollectBufferBar& bar(unsigned underlying_function) const {
    return functions_.bar(underlying_function);
  }
  // Allotments of PCBs that keep_guarantees() follows when all are changed. False, and nothing changed: see
  // CollectGroupTable::set_allotment().
  bool set_allotment(unsigned underlying_function, const CollectAllotment& allotment) {
    return groups_.set_allotment(underlying_function, allotment);
  }
  // After allotments have changed: where functions hold PCBs that others own now, half-written commands go to
  // send queue mode, the newest first, so that every function finds what it owns. What kicked commands hold
  // comes back as they are sent.
  virtual void keep_guarantees();
  const CollectGroupTable& groups() const { return groups_; }

  // Drops all incomplete commands and the lock of a function. PCBs that were kicked come back by release().
  void reset_function(unsigned underlying_function);
  // Back to the state after construction.
  virtual void reset();

  // For tests: what is wrong with the block's state, or null. Every PCB is free or counted once, and every
  // binding has two ends.
  const char* verify() const;

protected:
  // What becomes of VCBs and PCBs: a VCB begins to collect in a PCB that is free, or its command is tracked
  // in send queue mode; its command is incomplete after the first write, and timed from now on; a command
  // ends; a PCB is free again; a dedicated one is taken.
  void collect_in(uint16_t buffer, uint16_t physical_collect_buffer);
  void enter_send_queue_mode(uint16_t buffer);
  // A VCB that collects goes on in send queue mode, and its PCB is free.
  void hand_over(uint16_t buffer);
  void await_rest(uint16_t buffer);
  void unbind(uint16_t buffer);
  void put_back(uint16_t buffer);
  void take(uint16_t buffer, spec::PhysicalCollectBufferState state);
  void report(const spec::EventUnit& event);
  // A VCB of a function is about to be closed, where it is not yet.
  void count_closing(unsigned virtual_collect_buffer);

  const HcaParameters& parameters_;
  Counters& counters_;
  const Clock& clock_;
  QueuePairPort& queue_pairs_;
  EventPort& events_;
  KickRecords& kick_records_;
  DataLink<spec::KickUnit, 128>& kicks_collected_;
  DataLink<spec::PostNotice, 16>& post_notices_;
  DataLink<spec::ManagementUnit, 16>& management_units_;

  UnderlyingFunctionTable functions_;
  CollectGroupTable groups_;
  std::vector<VirtualCollectBuffer> virtual_;
  PhysicalCollectBuffers buffers_;
  HalfWrittenList half_written_;
  std::array<uint16_t, spec::underlying_functions>
      management_lock_{}; // by function: dedicated PCB or no_buffer

private:
  // What a write brings of one line of 64 B.
  struct Portion {
    uint32_t line = 0;
    uint32_t dwords = 0;  // 16 bits, bit i = DWORD i of the line
    uint32_t first = 0;   // the DWORD of the line that `data` begins with
    bool partial = false; // it holds part of a DWORD
    const uint8_t* data = nullptr;
  };
  // What the check of segment 0 says.
  struct Admission {
    spec::Refusal refusal = spec::Refusal::none;
    uint32_t checksum_secret = 0;
  };
  struct Progress {
    spec::Refusal refusal = spec::Refusal::none;
    bool complete = false;
  };

  bool is_dedicated(uint16_t buffer) const { return buffer >= parameters_.physical_collect_buffers; }
  static Portion portion_of(const BarWrite& write, uint32_t offset);
  static uint32_t copy_segment(const Portion& portion, uint32_t segment, uint32_t* target);

  void write_command(uint16_t buffer, const Portion& portion, uint32_t offset);
  void write_slots(uint16_t buffer, const Portion& portion, uint32_t offset);
  spec::Refusal ring_slot(spec::DoorbellSlot slot, unsigned underlying_function,
                          const spec::DoorbellSlotWrite& value);

  bool may_write(const BarWrite& write) const;
  void bind(uint16_t buffer);
  bool bind_to_buffer(uint16_t buffer);
  Progress collect(PhysicalCollectBuffer& pcb, const Portion& portion);
  Progress extract(VirtualCollectBuffer& vcb, unsigned underlying_function, const Portion& portion);

  static spec::Refusal check_format(const spec::CommandHeader& segment_0);
  Admission admit(unsigned underlying_function, const spec::CommandHeader& segment_0);
  static Admission admit_management(const spec::CommandHeader& segment_0);

  // `begin`: when the first write came, in clock ticks; nothing: it is the one that completes the command.
  // `record_place`: KickRecords::expect(), if it was asked before; null: it is asked now.
  void kick(uint16_t buffer, std::optional<uint64_t> begin, uint8_t* record_place);
  void kick_send_queue_mode(uint16_t buffer, std::optional<uint64_t> begin);
  bool may_complete(const VirtualCollectBuffer& vcb, const Portion& portion) const;
  void kick_management(unsigned underlying_function);
  void push_notice(spec::DoorbellSlot slot, unsigned underlying_function, spec::QualityOfServiceLevel level,
                   uint32_t queue_pair_number, uint32_t sequence_number);

  void refuse(uint16_t buffer, spec::Refusal refusal, uint32_t offset);
  void refuse_management(unsigned underlying_function, spec::Refusal refusal, uint32_t offset);
  void report(spec::EventType type, unsigned underlying_function, uint32_t object,
              const spec::CommandHeader& segment_0, spec::Refusal refusal, uint32_t offset);
  spec::CommandHeader segment_0_of(uint16_t buffer) const;
  uint16_t newest_that_repays() const;
  std::optional<uint16_t> take_from(unsigned first, unsigned end, spec::PhysicalCollectBufferState state);

  BitMask free_;                    // free PCB list: a set bit is a free PCB
  uint64_t half_written_limit_ = 0; // clock ticks; 0: never
  uint32_t kick_number_ = 0;
  Waker dedicated_freed_;
};

inline void CollectBuffer::enter_send_queue_mode(uint16_t buffer) {
  VirtualCollectBuffer& vcb = virtual_[buffer];
  vcb.state = spec::VirtualCollectBufferState::send_queue_mode;
  vcb.received = {};
}

inline void CollectBuffer::collect_in(uint16_t buffer, uint16_t physical_collect_buffer) {
  const UnderlyingFunctionTable::Owner& owner = functions_.owner(buffer);
  VirtualCollectBuffer& vcb = virtual_[buffer];
  free_.clear(physical_collect_buffer);
  vcb.state = spec::VirtualCollectBufferState::collecting;
  vcb.physical_collect_buffer = physical_collect_buffer;
  PhysicalCollectBuffer& pcb = buffers_[physical_collect_buffer];
  pcb.state = spec::PhysicalCollectBufferState::collecting;
  pcb.virtual_collect_buffer = buffer;
  pcb.underlying_function = owner.underlying_function;
  pcb.group = owner.part;
  pcb.begin_collecting();
}

// Ends the collecting of a command; the VCB is free. What became of the PCB is the caller's matter.
inline void CollectBuffer::unbind(uint16_t buffer) {
  VirtualCollectBuffer& vcb = virtual_[buffer];
  half_written_.remove(buffer);
  vcb.state = spec::VirtualCollectBufferState::free;
  vcb.refusal = spec::Refusal::none;
  vcb.physical_collect_buffer = no_buffer;
}

} // namespace fpga_verbs::hca
