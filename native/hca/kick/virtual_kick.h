#pragma once

#include "hca/kick/virtual_kick_port.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fpga_verbs::hca {

// virtual_kick of the device model.
class VirtualKick final : public VirtualKickPort, UnitTaker<spec::FinishUnit> {
public:
  explicit VirtualKick(const Ports& ports);

  // Processes all finishes, one kick from each input, or a train of them, and starts or discards one command.
  bool step() override;

  bool set_map(LaneMap map) override;
  const LaneMap& map() const override { return map_; }
  void invalidate(uint32_t entries) override { reader_.invalidate(entries); }

  void set_entry_credits(unsigned underlying_function, uint32_t credits) override {
    lists_.set_entry_credits(underlying_function, credits);
  }
  uint32_t entry_credits(unsigned underlying_function) const override {
    return lists_.entry_credits().own(underlying_function);
  }
  bool has_entry_credit(unsigned underlying_function) const override {
    return lists_.entry_credits().available(underlying_function) != CreditSource::none;
  }
  void set_list_size(unsigned lane, uint32_t commands) override {
    lists_.set_maximum(static_cast<uint16_t>(lane), static_cast<uint16_t>(commands));
  }
  uint32_t list_size(unsigned lane) const override { return lists_.maximum(static_cast<uint16_t>(lane)); }
  uint32_t listed(unsigned lane) const override { return lists_.count(static_cast<uint16_t>(lane)); }

  void divide_credits(CreditKind kind, unsigned lane, const LaneCreditDivision& division) override {
    credits(kind).divide(lane, division.own, division.shared_cap);
  }
  void set_shared_credits(CreditKind kind, uint32_t amount) override { credits(kind).set_shared(amount); }
  LaneCreditDivision credit_division(CreditKind kind, unsigned lane) const override {
    return {.own = credits(kind).own(lane), .shared_cap = credits(kind).shared_cap(lane)};
  }
  uint32_t shared_credits(CreditKind kind) const override { return credits(kind).shared(); }
  uint32_t own_credits_free(CreditKind kind, unsigned lane) const override {
    return credits(kind).own_free(lane);
  }
  uint32_t shared_credits_held(CreditKind kind, unsigned lane) const override {
    return credits(kind).shared_held(lane);
  }
  uint32_t shared_credits_free(CreditKind kind) const override { return credits(kind).shared_free(); }
  void notice_division() override;

  Outlook outlook(unsigned lane) const override;
  unsigned choose_lane(unsigned underlying_function, spec::QualityOfServiceLevel level) override;
  QueuePairLane queue_pair_lane(uint32_t queue_pair_number) const override;
  void drop(uint32_t queue_pair_number) override;
  uint32_t commands(unsigned underlying_function) const override { return commands_[underlying_function]; }
  UnitTaker<spec::FinishUnit>* finish_taker() override { return this; }
  void allow_trains(bool allowed) override { most_kicks_ = allowed ? train_kicks : 1; }
  void on_work(Waker self) override { self_ = self; }

  const char* verify() const override;
  ScrubbedQueue* scrubbed_queue() override { return &lists_; }

  // Parts of a step, for a bench in which RTL leads the model.
  const LaneCredits& credits(CreditKind kind) const {
    return kind == CreditKind::execution ? execution_credits_ : completion_credits_;
  }
  LaneCredits& credits(CreditKind kind) {
    return kind == CreditKind::execution ? execution_credits_ : completion_credits_;
  }

  // Puts a command on a lane's list. Its queue pair is pinned.
  void list(const spec::KickUnit& kick, unsigned lane);
  // Commands of a lane that are kicked and not finished.
  uint32_t load(unsigned lane) const { return load_[lane]; }
  // Removes the first command of a lane from the list. True: it was dropped, and its PCB released.
  bool leave_list(unsigned lane, spec::KickUnit& first);
  // Lanes whose next command was dropped.
  uint64_t lanes_to_discard() const;

private:
  static constexpr unsigned train_kicks = 8;

  // The lane of a queue pair, and the number of its commands that are kicked and not finished.
  struct Hold {
    uint16_t commands = 0;
    uint8_t lane = 0;
  };

  // While no command waits for the credits that come back.
  Taken take_at_once(const spec::FinishUnit& unit) override;
  TakenTrain take_train(std::span<const spec::FinishUnit> train) override;
  inline uint64_t able() const;
  inline void take(DataLink<spec::KickUnit>& kicks, bool& worked, bool& has_more);
  bool accept(const spec::KickUnit& kick);
  inline void pass(const spec::KickUnit& kick, unsigned lane);
  inline void hold_lane(const spec::KickUnit& kick, unsigned lane);
  inline void take_credits(spec::KickUnit first);
  bool refuse(const spec::KickUnit& kick);
  inline void start(unsigned lane);
  inline void finish(const spec::FinishUnit& unit);
  inline void end_command(unsigned underlying_function, uint32_t queue_pair_number, unsigned lane);
  inline void wake_waiting() const;
  inline Hold& hold(uint32_t queue_pair_number);
  inline const Hold& hold(uint32_t queue_pair_number) const;

  const HcaParameters& parameters_;
  Counters& counters_;
  CollectBufferPort& collect_buffer_;
  PhysicalCollectBuffers& buffers_;
  QueuePairStateCache& queue_pairs_;
  LaneMapReader& reader_;
  WaitingForRoom& waiting_for_room_;
  DataLink<spec::KickUnit>& kicks_collected_;
  DataLink<spec::KickUnit>& kicks_scheduled_;
  DataLink<spec::KickUnit>& kicks_started_;
  const std::vector<DataLink<spec::FinishUnit>*> finishes_;

  LaneMap map_ = LaneMap::initial(parameters_);
  HardwareLinkedListQueue<spec::KickUnit> lists_; // list index: lane
  LaneCredits execution_credits_;
  LaneCredits completion_credits_;
  std::vector<Hold> holds_;                                   // by queue pair index
  std::array<uint16_t, spec::transmit_virtual_lanes> load_{}; // by lane: commands kicked and not finished
  uint64_t idle_ = 0;                                         // lanes without load
  uint64_t waiting_ = 0;                                      // lanes with a command on their list
  unsigned last_started_ = 0;
  unsigned most_kicks_ = 1;                                         // that a step takes from a link
  std::vector<uint16_t> entry_of_;                                  // by PCB: of its command on a list
  std::array<uint16_t, spec::transmit_virtual_lanes> dropped_on_{}; // by lane: dropped commands on its list
  std::array<uint16_t, spec::transmit_virtual_lanes> fetched_on_{}; // by lane: fetched ones
  uint64_t lanes_with_dropped_ = 0;
  Waker self_;
  std::array<uint32_t, spec::underlying_functions> commands_{};
};

} // namespace fpga_verbs::hca
