#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/parameters.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/kick/lane_credits.h"
#include "hca/kick/lane_map.h"
#include "hca/kick/lane_map_reader.h"
#include "hca/kick/waiting_for_room.h"
#include "hca/lists/scrubbed_queue.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/registers.h"

#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// The kind of a lane's credit (US8484392, execution and completion credits).
enum class CreditKind : uint8_t { execution, completion };

// The interface of the block virtual_kick for the other blocks, implemented by the device model or by RTL.
// The block puts kicked commands on the list of a transmit virtual lane, and starts them when the lane has an
// execution and a completion credit (US8484392, virtual kick lists, TVL mapping table, virtual kick
// arbitrator).
//
// A command is pinned to its queue pair from the list until it is finished. The queue pair stays on its lane
// while it has such a command, so its commands cannot overtake each other.
class VirtualKickPort : public Block {
public:
  // Its links and other connections.
  struct Ports {
    const HcaParameters& parameters;
    Counters& counters;
    CollectBufferPort& collect_buffer;
    PhysicalCollectBuffers& buffers;
    QueuePairStateCache& queue_pairs;
    LaneMapReader& lane_map_reader;
    WaitingForRoom& waiting_for_room;
    DataLink<spec::KickUnit>& kicks_collected;
    DataLink<spec::KickUnit>& kicks_scheduled;
    DataLink<spec::KickUnit>& kicks_started;
    std::vector<DataLink<spec::FinishUnit>*> finishes; // one from each block that ends commands
  };

  // Mapping table: the lanes of a function's level, and those that all share, a bit each; lanes that the
  // board has not are left out. False, and nothing changed: some level would be left without any lane.
  // Commands stay on the lane that they are on.
  virtual bool set_map(LaneMap map) = 0;
  virtual const LaneMap& map() const = 0;
  bool set_lanes(unsigned underlying_function, spec::QualityOfServiceLevel level, uint64_t lanes);
  bool set_shared_lanes(uint64_t lanes);
  uint64_t lanes(unsigned underlying_function, spec::QualityOfServiceLevel level) const {
    return map().functions[underlying_function][static_cast<unsigned>(level)];
  }
  uint64_t shared_lanes() const { return map().shared; }
  // Entries of the table in host memory, a bit each at 2 × function + level, are read again before the next
  // command of their level chooses a lane.
  virtual void invalidate(uint32_t entries) = 0;

  // Most commands, at least 1, that a function may have on the lists; at first all that there are.
  virtual void set_entry_credits(unsigned underlying_function, uint32_t credits) = 0;
  virtual uint32_t entry_credits(unsigned underlying_function) const = 0;
  virtual bool has_entry_credit(unsigned underlying_function) const = 0;
  // Most commands, at least 1, on the list of a lane; at first all that there are.
  virtual void set_list_size(unsigned lane, uint32_t commands) = 0;
  virtual uint32_t list_size(unsigned lane) const = 0;
  // Commands on the list of a lane.
  virtual uint32_t listed(unsigned lane) const = 0;

  // Credits of one kind: those of a lane alone, the most shared ones that it may hold, and how many are
  // shared. Below what is held a division takes effect as they return.
  virtual void divide_credits(CreditKind kind, unsigned lane, const LaneCreditDivision& division) = 0;
  virtual void set_shared_credits(CreditKind kind, uint32_t credits) = 0;
  virtual LaneCreditDivision credit_division(CreditKind kind, unsigned lane) const = 0;
  virtual uint32_t shared_credits(CreditKind kind) const = 0;
  // The credits that are free, and those that a lane holds.
  virtual uint32_t own_credits_free(CreditKind kind, unsigned lane) const = 0;
  virtual uint32_t shared_credits_held(CreditKind kind, unsigned lane) const = 0;
  virtual uint32_t shared_credits_free(CreditKind kind) const = 0;
  // Credits, lists or lanes have been divided anew.
  virtual void notice_division() = 0;

  // The room on a lane for a command that is fetched for a queue pair: how many the list takes, and how many
  // of them would start at once; whether one that was fetched waits there already.
  struct Outlook {
    uint32_t room = 0;
    uint32_t credits = 0;
    bool has_fetched = false;
  };
  virtual Outlook outlook(unsigned lane) const = 0;
  virtual unsigned choose_lane(unsigned underlying_function, spec::QualityOfServiceLevel level) = 0;

  // Where the commands of a queue pair that exists are.
  struct QueuePairLane {
    unsigned commands = 0; // kicked and not finished
    unsigned lane = 0;     // that they are on
  };
  virtual QueuePairLane queue_pair_lane(uint32_t queue_pair_number) const = 0;
  // The lane that the queue pair's next command goes to, and whether no other can be chosen: a command of it
  // is kicked and not finished.
  struct NextLane {
    unsigned lane = 0;
    bool bound = false;
  };
  NextLane next_lane(const WaitingForRoom::Waiter& queue_pair);

  // The queue pair is to become quiet: its commands on the list are dropped, and it waits for no room. Its
  // PCBs come back when the list comes to them, which needs no credit.
  virtual void drop(uint32_t queue_pair_number) = 0;

  // Commands of a function that are kicked, taken from the links and not finished.
  virtual uint32_t commands(unsigned underlying_function) const = 0;

  // Takes what ends commands at once. Null: it comes by the links.
  virtual UnitTaker<spec::FinishUnit>* finish_taker() { return nullptr; }

  // Whether a step may take several kicks of an input. Forbidden at first.
  virtual void allow_trains(bool) {}

  // Woken when there is something to do that came by no link: this block.
  virtual void on_work(Waker self) = 0;

  spec::control::LaneState lane_state(unsigned lane) const;

  // For tests: what contradicts itself, or nullptr.
  virtual const char* verify() const = 0;
  // The lists for the scrubber; null: RTL, whose lists have their own.
  virtual ScrubbedQueue* scrubbed_queue() { return nullptr; }
};

} // namespace fpga_verbs::hca
