#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/parameters.h"
#include "hca/collect/collect_buffer.h"
#include "hca/kick/lane_credits.h"
#include "hca/kick/lane_map.h"
#include "hca/kick/lane_map_reader.h"
#include "hca/kick/waiting_for_room.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <array>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// Puts kicked commands on the list of a transmit virtual lane, and starts them when the lane has an execution
// and a completion credit (US8484392, virtual kick lists, TVL mapping table, virtual kick arbitrator).
//
// A command is pinned to its queue pair from the list until it is finished, and the queue pair stays on its
// lane as long as it has such a command: commands of a queue pair cannot overtake each other.
//
// The RTL can do its work: rtl::VirtualKickRtl lets it decide, and has what is kept here follow.
class VirtualKick : public Block {
public:
  // Its links, and what else it is connected to.
  struct Ports {
    const HcaParameters& parameters;
    Counters& counters;
    CollectBuffer& collect_buffer;
    QueuePairStateCache& queue_pairs;
    LaneMapReader& lane_map_reader;
    DataLink<spec::KickUnit>& kicks_collected;
    DataLink<spec::KickUnit>& kicks_scheduled;
    DataLink<spec::KickUnit>& kicks_started;
    std::vector<DataLink<spec::FinishUnit>*> finishes; // one from each block that ends commands
  };

  explicit VirtualKick(const Ports& ports);

  // Takes what has finished, one kick of each kind, and starts or discards one command.
  bool step() override;

  // Mapping table: the lanes of a function's level, and those that all share, a bit each; lanes that the
  // board has not are left out. False, and nothing changed: some level would be left without any lane.
  // Commands stay on the lane that they are on.
  bool set_map(LaneMap map);
  const LaneMap& map() const { return map_; }
  bool set_lanes(unsigned underlying_function, spec::QualityOfServiceLevel level, uint64_t lanes);
  bool set_shared_lanes(uint64_t lanes);
  uint64_t lanes(unsigned underlying_function, spec::QualityOfServiceLevel level) const {
    return map_.functions[underlying_function][static_cast<unsigned>(level)];
  }
  uint64_t shared_lanes() const { return map_.shared; }

  // Mapping table in host memory: entries that are invalidated, a bit each at 2 × function + level, are read
  // again before the next command of their level chooses a lane.
  void invalidate(uint32_t entries) { invalid_ |= entries; }

  // Most commands, at least 1, that a function may have on the lists; at first all that there are.
  void set_entry_credits(unsigned underlying_function, uint32_t credits) {
    lists_.set_entry_credits(underlying_function, credits);
  }

  uint32_t entry_credits(unsigned underlying_function) const {
    return lists_.entry_credits().own(underlying_function);
  }
  // Most commands, at least 1, on the list of a lane; at first all that there are.
  void set_list_size(unsigned lane, uint32_t commands) {
    lists_.set_maximum(static_cast<uint16_t>(lane), static_cast<uint16_t>(commands));
  }
  uint32_t list_size(unsigned lane) const { return lists_.maximum(static_cast<uint16_t>(lane)); }

  // Credits of the lanes; below what is held the division takes effect as they return.
  const LaneCredits& execution_credits() const { return execution_credits_; }
  const LaneCredits& completion_credits() const { return completion_credits_; }
  LaneCredits& execution_credits() { return execution_credits_; }
  LaneCredits& completion_credits() { return completion_credits_; }

  // What a command that is fetched for a queue pair finds on a lane: how many the list takes, and how many of
  // them would start at once; whether one that was fetched waits there already.
  struct Outlook {
    uint32_t room = 0;
    uint32_t credits = 0;
    bool has_fetched = false;
  };
  virtual Outlook outlook(unsigned lane) const;
  // The lane that the queue pair's next command goes to, and whether no other can be chosen: a command of it
  // is kicked and not finished.
  struct NextLane {
    unsigned lane = 0;
    bool bound = false;
  };
  NextLane next_lane(const WaitingForRoom::Waiter& queue_pair);
  virtual unsigned choose_lane(unsigned underlying_function, spec::QualityOfServiceLevel level);
  bool has_entry_credit(unsigned underlying_function) const {
    return lists_.entry_credits().available(underlying_function) != CreditSource::none;
  }

  // Who waits for room, for send_queue_scheduler, which is woken when there may be some.
  WaitingForRoom& waiting() { return waiting_for_room_; }
  void on_room(Waker room) { room_ = room; }
  // Woken when there is something to do that came by no link: this block.
  void on_work(Waker self) { self_ = self; }
  // Credits, lists or lanes have been divided anew.
  void notice_division() const {
    self_.wake();
    wake_waiting();
  }

  // The queue pair is to become quiet: its commands on the list are dropped, and it waits for no room. Its
  // PCBs come back when the list comes to them, which needs no credit.
  virtual void drop(uint32_t queue_pair_number);
  // The queue pair waits for no room any more.
  void release(uint32_t queue_pair_number);

  // Shared credits that are free.
  uint32_t shared_execution_credits() const { return execution_credits_.shared_free(); }
  uint32_t shared_completion_credits() const { return completion_credits_.shared_free(); }
  spec::control::LaneState lane_state(unsigned lane) const;
  // Where the commands of a queue pair that exists are, and what its next one waits for.
  struct QueuePairLane {
    unsigned commands = 0; // kicked and not finished
    unsigned lane = 0;     // that they are on
    spec::RoomWait room_wait = spec::RoomWait::none;
  };
  QueuePairLane queue_pair_lane(uint32_t queue_pair_number) const;

  // Commands of a function that are kicked, taken from the links and not finished.
  uint32_t commands(unsigned underlying_function) const { return commands_[underlying_function]; }

  // For tests: what contradicts itself, or nullptr.
  const char* verify() const;

protected:
  // What becomes of a command: it joins a lane; the first of a lane leaves the list, true: it was dropped,
  // and its PCB is back; it gives credits back, or is finished. fetch_lanes reads an entry of the mapping
  // table that is invalid.
  void list(const spec::KickUnit& kick, unsigned lane);
  bool leave_list(unsigned lane, spec::KickUnit& first);
  // The credits that it says come with it, chosen elsewhere.
  void take_credits(const spec::KickUnit& started);
  void finish(const spec::FinishUnit& unit);
  void fetch_lanes(unsigned underlying_function, spec::QualityOfServiceLevel level);
  uint32_t invalid_entries() const { return invalid_; }
  // Whether every list, and the entry credits of every function, have room for so many commands more.
  bool has_room_everywhere(uint32_t commands) const;
  // Lanes whose next command was dropped.
  uint64_t lanes_to_discard() const;

  const HcaParameters& parameters_;
  Counters& counters_;
  CollectBuffer& collect_buffer_;
  QueuePairStateCache& queue_pairs_;
  DataLink<spec::KickUnit>& kicks_collected_;
  DataLink<spec::KickUnit>& kicks_scheduled_;
  DataLink<spec::KickUnit>& kicks_started_;
  std::vector<DataLink<spec::FinishUnit>*> finishes_; // one from each block that ends commands

private:
  // The lane of a queue pair, and how many of its commands are kicked and not finished.
  struct Hold {
    uint16_t commands = 0;
    uint8_t lane = 0;
  };

  void divide_lanes();
  bool accept(const spec::KickUnit& kick);
  bool refuse(const spec::KickUnit& kick);
  void start(unsigned lane);
  void end_command(unsigned underlying_function, uint32_t queue_pair_number, unsigned lane);
  void wake_waiting() const;
  Hold& hold(uint32_t queue_pair_number);
  const Hold& hold(uint32_t queue_pair_number) const;

  LaneMap map_;
  uint32_t invalid_ = 0; // entries of the map
  LaneMapReader& reader_;
  HardwareLinkedListQueue<spec::KickUnit> lists_; // list index: lane
  LaneCredits execution_credits_;
  LaneCredits completion_credits_;
  std::vector<Hold> holds_;                                   // by queue pair index
  std::array<uint16_t, spec::transmit_virtual_lanes> load_{}; // by lane: commands kicked and not finished
  uint64_t idle_ = 0;                                         // lanes without load
  uint64_t waiting_ = 0;                                      // lanes with a command on their list
  unsigned last_started_ = 0;
  std::vector<uint16_t> entry_of_;                                  // by PCB: of its command on a list
  std::array<uint16_t, spec::transmit_virtual_lanes> dropped_on_{}; // by lane: dropped commands on its list
  std::array<uint16_t, spec::transmit_virtual_lanes> fetched_on_{}; // by lane: fetched ones
  uint64_t lanes_with_dropped_ = 0;
  WaitingForRoom waiting_for_room_;
  Waker self_;
  Waker room_;
  std::array<uint32_t, spec::underlying_functions> commands_{};
};

} // namespace fpga_verbs::hca
