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

#include <cstdint>
#include <memory>
#include <vector>

namespace fpga_verbs::hca {

struct BlockMakers;
struct HcaBlocks;

// All blocks are the device model's.
const BlockMakers& model_blocks();

// A host channel adapter: what lies behind the BARs of a board. It does nothing by itself; its board hands it
// accesses and steps it. Not thread-safe: the board holds its lock around every call. Its parts are in
// hca_blocks.h.
class Hca {
public:
  // `host`, `clock`, the makers of blocks and what is attached to the ports outlive the device; the
  // parameters pass check_parameters().
  Hca(const HcaParameters& parameters, HostPort& host, const Clock& clock, const PortAttachments& attachments,
      const BlockMakers& makers = model_blocks());
  ~Hca();
  Hca(const Hca&) = delete;
  Hca& operator=(const Hca&) = delete;

  const HcaParameters& parameters() const { return parameters_; }
  const Counters& counters() const { return counters_; }

  // Whether write() may be called. False while a link that a kick may need has no credit: run() first.
  bool can_accept_write() const;

  // A write transaction that lies in a page of a region. Only when can_accept_write(). Accesses to control
  // registers come from function 0 alone; to a function's register page or VCBs from this function: the board
  // sees to it.
  void write(const BarWrite& write);

  // Write transactions to a page that come together, in order, as one write of up to 320 B with all byte
  // enables set. Only when can_accept_write(). False, and nothing has happened: write() has to take one after
  // the other.
  bool write_burst(const BarWrite& burst);

  // Reads the DWORD at `offset`, a multiple of 4, of a page of a region. `page` is the reading function in
  // the identity registers. VCBs read 0, without side effect.
  uint32_t read(spec::RegionType region, unsigned page, uint32_t offset);

  // Takes up to `limit` steps: in each one block works on one data unit. Gives the number taken. Fewer: there
  // is nothing to do before the next write or next_deadline().
  unsigned run(unsigned limit);

  // A link of a port has notified the board.
  void notify_port();

  // The clock tick at which a step has something to do although the device is idle; ~0: none.
  uint64_t next_deadline() const;

  // Resets the device: all state and all counters are as after construction, but for the numbers of
  // connections that were, which are in time-wait.
  void reset();

  // Resets a function: its commands and queue pairs are gone, nothing of it is in flight, and no DMA follows.
  // The others' commands go on.
  void reset_function(unsigned underlying_function);

  // Tells a port of kicks and events from now on, also after a reset.
  void watch(const Watched& watched);

  // Objects that exist, for observers: hca/registers/object_inspection.h.
  uint32_t inspect_queue_pairs(const Inspection& inspection, std::vector<QueuePairFacts>& found);
  uint32_t inspect_regions(const Inspection& inspection, std::vector<RegionFacts>& found);

  // For tests, at any time between calls: the name of the first block whose PCBs, credits, pins or entries do
  // not add up, or null.
  const char* verify() const;
  // Likewise when there is nothing to do and no message is unfinished.
  const char* verify_at_rest() const;
  // Until the next reset, its blocks and links.
  HcaBlocks& blocks() {
    forget_deadline();
    return *blocks_;
  }

private:
  void carry_out_resets();
  void look_at_clock();
  // A register that is written or read may bring a block's deadline forward.
  void forget_deadline() { deadline_ = 0; }

  HcaParameters parameters_;
  HostPort& host_;
  const Clock& clock_;
  const PortAttachments& attachments_;
  const BlockMakers& makers_;
  Counters counters_;
  Watched watched_;
  std::unique_ptr<HcaBlocks> blocks_;
  unsigned steps_to_look_ = 0; // at the clock
  bool rested_ = true;         // there was nothing to do: time has passed since
  uint64_t deadline_ = 0;      // the earliest of a block, or before it
};

} // namespace fpga_verbs::hca
