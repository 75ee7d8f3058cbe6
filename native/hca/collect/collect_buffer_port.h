#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/parameters.h"
#include "hca/collect/bar_write.h"
#include "hca/collect/collect_group_table.h"
#include "hca/collect/kick_records.h"
#include "hca/collect/physical_collect_buffer.h"
#include "hca/collect/underlying_function_table.h"
#include "hca/queue_pair/queue_pair_port.h"
#include "spec/data_units.h"
#include "spec/enums.h"

#include <array>
#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// The interface of the block collect_buffer for the other blocks, implemented by the device model or by RTL.
// The block collects commands written to VCBs and management pages, in pieces and in any order, and kicks
// each at the write that completes it (US8589610). It owns the VCBs and the rights to PCBs; the PCBs
// themselves are in PhysicalCollectBuffers.
class CollectBufferPort : public Block {
public:
  static constexpr uint64_t no_deadline = ~uint64_t{0};

  // The board checks for credits before each write.
  static constexpr bool is_woken_by_credit = false;

  // Its links and other connections.
  struct Ports {
    const HcaParameters& parameters;
    Counters& counters;
    const Clock& clock;
    PhysicalCollectBuffers& buffers;
    QueuePairPort& queue_pairs;
    EventPort& events;
    KickRecords& kick_records;
    DataLink<spec::KickUnit>& kicks_collected;
    DataLink<spec::PostNotice>& post_notices;
    DataLink<spec::ManagementUnit>& management_units;

    // Whether the links have the credits that any single write may need.
    bool can_accept_write() const {
      constexpr size_t notices_per_write = 2; // one can ring the start and the stop slot
      return kicks_collected.has_credit() && post_notices.has_credit(notices_per_write) &&
             management_units.has_credit();
    }
    // Counts a refused or half-written command, and reports it.
    void report(const spec::EventUnit& event) const;
  };

  // Whether write() may be called.
  virtual bool can_accept_write() const = 0;

  // A write to a VCB page. Call only if can_accept_write().
  virtual void write(const BarWrite& write) = 0;

  // Several writes to a VCB page, in order, as one of up to 320 B with all byte enables set. False: nothing
  // has happened, and the caller must use write() for each. The first write of such a command has the time of
  // its kick.
  virtual bool write_burst(const BarWrite& burst) = 0;

  // A write to the management page of a function; the offset counts from its register page. Call only if
  // can_accept_write().
  virtual void write_management_page(unsigned underlying_function, const BarWrite& write) = 0;

  // Clock tick at which the oldest incomplete command exceeds the limit; no_deadline: none.
  virtual uint64_t next_deadline() const = 0;
  // Limit in clock ticks; 0: none.
  virtual void set_half_written_limit(uint64_t ticks) = 0;
  virtual uint64_t half_written_limit() const = 0;

  // Releases a PCB that another block holds. Only the last holder calls it, once.
  virtual void release(uint16_t buffer) = 0;

  // Allocates a dedicated PCB, in state fetching, for a command that send_queue_scheduler or management_queue
  // fetches.
  virtual std::optional<uint16_t> take_dedicated() = 0;
  virtual std::optional<uint16_t> take_management() = 0;
  // Whether another dedicated PCB remains for send_queue_scheduler after it takes one, or it never has more
  // than one.
  virtual bool has_dedicated_to_spare() const = 0;
  // Waker for a dedicated PCB that becomes free.
  virtual void on_dedicated_freed(Waker dedicated_freed) = 0;
  // A command has been read into the data of an allocated PCB.
  virtual void fetched(uint16_t buffer) = 0;

  // Number of the next kick, free-running.
  virtual uint32_t take_kick_number() = 0;

  // The dedicated PCB locked for the function's management page; nothing: none.
  virtual std::optional<uint16_t> management_lock(unsigned underlying_function) const = 0;
  // Locks a dedicated PCB and returns it; nothing: all are locked. A function that has a lock gets the same
  // PCB.
  virtual std::optional<uint16_t> lock_management(unsigned underlying_function) = 0;
  // Releases the lock and drops what was written.
  virtual void unlock_management(unsigned underlying_function) = 0;
  // Breaks the lock of PCB `buffer`; no effect if it is not locked.
  void break_management_lock(uint16_t buffer);

  // The state of a VCB that the control function can read.
  struct Inspection {
    spec::VirtualCollectBufferState state = spec::VirtualCollectBufferState::free;
    spec::Refusal refusal = spec::Refusal::none;
    uint16_t physical_collect_buffer = no_buffer; // while it collects
  };
  virtual Inspection inspect(unsigned virtual_collect_buffer) const = 0;

  // Frees PCB and counts of an incomplete or refused command; a closed VCB stays closed.
  virtual void cancel(unsigned virtual_collect_buffer) = 0;
  virtual void close(unsigned virtual_collect_buffer) = 0;
  virtual void open(unsigned virtual_collect_buffer) = 0;

  // Division. VCBs that the new BAR adds or removes must be closed. False, without a change: they are not, or
  // the BAR overlaps another function's, exceeds the board or has its dividers out of order.
  virtual bool set_bar(unsigned underlying_function, const VirtualCollectBufferBar& bar) = 0;
  // Sets all BARs at once; their final state satisfies set_bar()'s check. Closes VCBs that change owner and
  // opens them for the new owner.
  virtual void set_bars(const std::array<VirtualCollectBufferBar, spec::underlying_functions>& bars) = 0;
  virtual const VirtualCollectBufferBar& bar(unsigned underlying_function) const = 0;
  // Sets a PCB allotment; call keep_guarantees() after all changes. False, without a change: see
  // CollectGroupTable::set_allotment().
  virtual bool set_allotment(unsigned underlying_function, const CollectAllotment& allotment) = 0;
  // Called after allotments have changed: where functions hold PCBs that others now own, half-written
  // commands go to send queue mode, the newest first, so that every function finds the PCBs that it owns.
  // PCBs of kicked commands return as they are sent.
  virtual void keep_guarantees() = 0;
  virtual const CollectGroupTable& groups() const = 0;

  // Drops all incomplete commands and the lock of a function. Kicked PCBs return by release().
  void reset_function(unsigned underlying_function);

  // For tests: the first inconsistency of the block's state, or null. Every PCB is free or counted once, and
  // every binding is mutual.
  virtual const char* verify() const = 0;
};

} // namespace fpga_verbs::hca
