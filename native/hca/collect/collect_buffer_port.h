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

// The block collect_buffer as the others see it, whether the device model's or RTL is in its place: collects
// commands that are written to VCBs and management pages, piece by piece and in any order, and kicks each at
// the write that completes it (US8589610). Owns the VCBs and who may use which PCBs; the PCBs lie in
// PhysicalCollectBuffers.
class CollectBufferPort : public Block {
public:
  static constexpr uint64_t no_deadline = ~uint64_t{0};

  // The board asks before each write whether there are credits.
  static constexpr bool is_woken_by_credit = false;

  // Its links, and what else it is connected to.
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

    // Whether the links have the credits that any one write may need.
    bool can_accept_write() const;
    // Counts a refused or half-written command, and reports it.
    void report(const spec::EventUnit& event) const;
  };

  // Whether a write may be made.
  virtual bool can_accept_write() const = 0;

  // A write to a VCB page. Only when can_accept_write().
  virtual void write(const BarWrite& write) = 0;

  // Writes to a VCB page that come together, in order, as one of up to 320 B with all byte enables set. Only
  // when can_accept_write(). False, and nothing has happened: write() has to take one after the other. The
  // time of the first write of a command that comes so is that of its kick.
  virtual bool write_burst(const BarWrite& burst) = 0;

  // A write to the management page of a function, offset counted in its register page. Only when
  // can_accept_write().
  virtual void write_management_page(unsigned underlying_function, const BarWrite& write) = 0;

  // Clock tick at which the oldest incomplete command passes the limit; no_deadline: none will.
  virtual uint64_t next_deadline() const = 0;
  // Clock ticks; 0: never.
  virtual void set_half_written_limit(uint64_t ticks) = 0;
  virtual uint64_t half_written_limit() const = 0;

  // A PCB in the hands of another block is released exactly once, by the block that has it last.
  virtual void release(uint16_t buffer) = 0;

  // A dedicated PCB to fetch a command into, in state fetching: for send_queue_scheduler, for
  // management_queue.
  virtual std::optional<uint16_t> take_dedicated() = 0;
  virtual std::optional<uint16_t> take_management() = 0;
  // Whether send_queue_scheduler has another one left when it takes one, or never has more than one.
  virtual bool has_dedicated_to_spare() const = 0;
  // Woken when a dedicated PCB is free again.
  virtual void on_dedicated_freed(Waker dedicated_freed) = 0;
  // A command has been read into the data of a PCB that was taken.
  virtual void fetched(uint16_t buffer) = 0;

  // Number of the next kick, free-running.
  virtual uint32_t take_kick_number() = 0;

  // The dedicated PCB that is locked for the function's management page; nothing: none.
  virtual std::optional<uint16_t> management_lock(unsigned underlying_function) const = 0;
  // Locks one: the PCB, or nothing when all are taken. A function that has one gets the same.
  virtual std::optional<uint16_t> lock_management(unsigned underlying_function) = 0;
  // Gives the lock back, with whatever was written.
  virtual void unlock_management(unsigned underlying_function) = 0;
  // Takes the lock of PCB `buffer` from its owner; nothing happens when it is not locked.
  void break_management_lock(uint16_t buffer);

  // The state of a VCB that the control function may see.
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

  // Division. VCBs that the new BAR adds or takes away must be closed; false, and nothing changed, when they
  // are not, or when the BAR overlaps another function's, leaves the board or has its dividers out of order.
  virtual bool set_bar(unsigned underlying_function, const VirtualCollectBufferBar& bar) = 0;
  // All BARs at once; they pass set_bar()'s check in the end. VCBs that change their owner are closed, and
  // opened for the new one.
  virtual void set_bars(const std::array<VirtualCollectBufferBar, spec::underlying_functions>& bars) = 0;
  virtual const VirtualCollectBufferBar& bar(unsigned underlying_function) const = 0;
  // Allotments of PCBs that keep_guarantees() follows when all are changed. False, and nothing changed: see
  // CollectGroupTable::set_allotment().
  virtual bool set_allotment(unsigned underlying_function, const CollectAllotment& allotment) = 0;
  // After allotments have changed: where functions hold PCBs that others own now, half-written commands go to
  // send queue mode, the newest first, so that every function finds what it owns. PCBs of kicked
  // commands come back as they are sent.
  virtual void keep_guarantees() = 0;
  virtual const CollectGroupTable& groups() const = 0;

  // Drops all incomplete commands and the lock of a function. PCBs that were kicked come back by release().
  void reset_function(unsigned underlying_function);

  // For tests: what is wrong with the block's state, or null. Every PCB is free or counted once, and every
  // binding has two ends.
  virtual const char* verify() const = 0;
};

} // namespace fpga_verbs::hca
