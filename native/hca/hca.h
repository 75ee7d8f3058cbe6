#pragma once

#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/host_port.h"
#include "hca/base/object_facts.h"
#include "hca/base/parameters.h"
#include "hca/base/watch_port.h"
#include "hca/collect/bar_write.h"
#include "hca/port/port.h"
#include "spec/enums.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fpga_verbs::hca {

struct BlockMakers;
struct HcaBlocks;

// All blocks are the device model's.
const BlockMakers& model_blocks();

// A host channel adapter: the device behind the BARs of a board. It does nothing by itself; its board passes
// accesses to it and steps it. Not thread-safe: the board holds its lock around every call. hca_blocks.h
// lists its parts.
class Hca {
public:
  // `host`, `clock`, the makers of blocks and the port attachments outlive the device; the parameters satisfy
  // check_parameters().
  Hca(const HcaParameters& parameters, HostPort& host, const Clock& clock, const PortAttachments& attachments,
      const BlockMakers& makers = model_blocks());
  ~Hca();
  Hca(const Hca&) = delete;
  Hca& operator=(const Hca&) = delete;

  const HcaParameters& parameters() const { return parameters_; }
  const Counters& counters() const { return counters_; }

  // Whether write() may be called. False while a link that a kick may need has no credit: run() first.
  bool can_accept_write() const;

  // Delivers a write transaction within a page of a region. Call only if can_accept_write(). The board
  // ensures that only function 0 accesses control registers, and only a function itself its register page and
  // VCBs.
  void write(const BarWrite& write);

  // Delivers several write transactions to a page, in order, as one write of up to 320 B with all byte
  // enables set. False: nothing has happened, and the caller must use write() for each.
  bool write_burst(const BarWrite& burst);

  // Reads the DWORD at `offset`, a multiple of 4, of a page of a region. In the identity registers `page` is
  // the reading function. VCBs read 0, without side effect.
  uint32_t read(spec::RegionType region, unsigned page, uint32_t offset);

  // Takes up to `limit` steps, in each of which one block processes one data unit. Returns the number taken;
  // if fewer, there is nothing to do before the next write or next_deadline().
  unsigned run(unsigned limit);

  // Whether a block may work on a data unit in the step of the one that made it, where the link between them
  // is empty and nothing waits before the unit, as at first; else a step is one unit in one block.
  void pass_by_empty_links(bool on) {
    if (on != passes_by_) [[unlikely]]
      change_passing_by(on);
  }

  // A link of a port has notified the board.
  void notify_port();

  // The clock tick at which an idle device has work; ~0: none.
  uint64_t next_deadline() const { return rested_ && deadline_ != 0 ? deadline_ : next_deadline_of_blocks(); }

  // Resets the device: all state and all counters are as after construction, but for the numbers of
  // connections that were, which are in time-wait.
  void reset();

  // Resets a function: removes its commands and queue pairs; nothing of it is in flight afterwards, and no
  // DMA follows. Commands of other functions continue.
  void reset_function(unsigned underlying_function);

  // Reports kicks and events to a port from now on, also after a reset.
  void watch(const Watched& watched);

  // Existing objects, for observers: hca/management/object_inspection.h.
  uint32_t inspect_queue_pairs(const Inspection& inspection, std::vector<QueuePairFacts>& found);
  uint32_t inspect_regions(const Inspection& inspection, std::vector<RegionFacts>& found);

  // For faults: the data units in linked list queues (0 while no block is ready), the function of one of them
  // by its rank, and flipping one or two stored bits of it, as `random` chooses.
  size_t held_data_units() const;
  unsigned owner_of_data_unit(size_t rank) const;
  void flip_bits(size_t rank, uint64_t random, unsigned bits);

  // For tests, at any time between calls: the name of the first block with inconsistent PCBs, credits, pins
  // or entries, or null.
  const char* verify() const;
  // The same when the device is idle and no message is unfinished.
  const char* verify_at_rest() const;
  // Its blocks and links, valid until the next reset.
  HcaBlocks& blocks() {
    forget_deadline();
    return *blocks_;
  }

private:
  std::unique_ptr<HcaBlocks> make_blocks();
  void change_passing_by(bool on);
  void carry_out_resets();
  void look_at_clock();
  // Reading or writing a register may move a block's deadline forward.
  void forget_deadline() { deadline_ = 0; }
  uint64_t next_deadline_of_blocks() const;

  HcaParameters parameters_;
  HostPort& host_;
  const Clock& clock_;
  const PortAttachments& attachments_;
  const BlockMakers& makers_;
  Counters counters_;
  Watched watched_;
  bool passes_by_ = true; // before blocks_, which are made so
  std::unique_ptr<HcaBlocks> blocks_;
  unsigned steps_to_look_ = 0; // at the clock
  bool rested_ = true;         // there was nothing to do: time has passed since
  uint64_t deadline_ = 0;      // the earliest of a block, or before it
};

} // namespace fpga_verbs::hca
