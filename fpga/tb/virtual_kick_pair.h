#pragma once

#include "Vvirtual_kick.h"
#include "bench.h"
#include "hca/base/hca_links.h"
#include "hca/collect/collect_buffer.h"
#include "hca/kick/virtual_kick.h"
#include "virtual_kick_surroundings.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {

using spec::FinishUnit;
using spec::KickUnit;

// virtual_kick in RTL, the device model beside it, and the bench's record of both.
class VirtualKickPair {
public:
  VirtualKickPair(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {
    for (uint32_t number = 0; number < queue_pairs - hca::QueuePairStateCache::reserved_indices; ++number) {
      spec::QueuePairControl control;
      live_.push_back(queue_pair_state_cache_.create(number % functions, control).value());
    }
    entry_credits_.fill(entries);
  }

protected:
  bool first_dropped(uint32_t lane) const { return (model_.lanes_to_discard() >> lane & 1) != 0; }

  bool has_entry_credit(const KickUnit& kick) const {
    return listed_[kick.underlying_function()] < entry_credits_[kick.underlying_function()];
  }

  bool has_command(uint32_t lane) const {
    return model_.lane_state(lane).commands() > flying_[lane] && !first_dropped(lane);
  }
  bool able(uint32_t lane) const {
    return has_command(lane) && model_.credits(hca::CreditKind::execution).available(lane) != 0 &&
           model_.credits(hca::CreditKind::completion).available(lane) != 0;
  }

  template <size_t... Ports>
  static std::array<hca::DataLink<FinishUnit>, ports> finish_links(std::index_sequence<Ports...>) {
    return {((void)Ports, hca::DataLink<FinishUnit>(16))...};
  }

  void expect_value(const char* what, uint64_t rtl, uint64_t model) { expect(place_, what, rtl, model); }

  static constexpr uint32_t clock_limit = 1000;
  // Maximum clocks until a lane that can start a command, or has one to discard, gets its turn.
  static constexpr uint32_t start_limit = 16 * (lanes + 2);
  static constexpr uint32_t settle_clocks = 17;  // before the scan that drops commands
  static constexpr uint32_t out_entries = 24;    // minimum room for started commands
  static constexpr uint32_t refused_entries = 6; // refused commands that stop the intake
  static constexpr uint32_t memory = 16;         // clocks of history

  // The credits that a lane took for a started command.
  struct Taken {
    uint32_t lane = 0;
    hca::CreditSource execution = hca::CreditSource::none;
    hca::CreditSource completion = hca::CreditSource::none;
  };

  Vvirtual_kick rtl_;
  hca::HcaParameters parameters_ = model_parameters();
  hca::Counters counters_;
  NoTime clock_;
  NoHost host_;
  NoEvents events_;
  hca::ContextMemory context_memory_{parameters_, counters_, host_, events_};
  hca::QueuePairStateCache queue_pair_state_cache_{parameters_, counters_, context_memory_};
  hca::KickRecords kick_records_{counters_, host_, clock_, events_};
  hca::HcaLinks links_;
  hca::DataLink<KickUnit>& kicks_collected_ = links_.kicks_collected;
  hca::DataLink<KickUnit>& kicks_scheduled_ = links_.kicks_scheduled;
  hca::DataLink<KickUnit>& kicks_started_ = links_.kicks_started;
  std::array<hca::DataLink<FinishUnit>, ports> finish_links_ =
      finish_links(std::make_index_sequence<ports>());
  hca::PhysicalCollectBuffers buffers_{parameters_};
  hca::CollectBuffer collect_buffer_{{parameters_, counters_, clock_, buffers_, queue_pair_state_cache_,
                                      events_, kick_records_, kicks_collected_, links_.post_notices,
                                      links_.management_units}};
  hca::LaneMapReader lane_map_reader_{counters_, host_, events_};
  hca::WaitingForRoom waiting_for_room_{parameters_};
  // The model follows the RTL's decisions.
  hca::VirtualKick model_{{parameters_,
                           counters_,
                           collect_buffer_,
                           buffers_,
                           queue_pair_state_cache_,
                           lane_map_reader_,
                           waiting_for_room_,
                           kicks_collected_,
                           kicks_scheduled_,
                           kicks_started_,
                           {&finish_links_[0], &finish_links_[1], &finish_links_[2]}}};
  Random random_;
  Place place_;
  uint64_t clocks_;
  Weights weights_;
  std::vector<uint32_t> live_; // queue pair numbers
  std::array<uint32_t, functions> entry_credits_{};
  std::array<uint32_t, functions> listed_{}; // entries that a function has paid for
  std::array<uint32_t, queue_pairs> pins_{};

  std::optional<KickUnit> scheduled_; // offered
  std::optional<KickUnit> collected_;
  bool scheduled_before_ = false;
  std::array<std::optional<Stage>, stages> stages_; // only the kick in the first stage may wait
  bool open_ = true;                                // for kicks, one clock earlier
  bool stays_ = false;                              // the kick stays in the first stage, one clock earlier
  uint64_t lately_ = 0;      // clocks in which a kick left the first stage, the newest in bit 0
  uint32_t invalid_ = 0;     // invalid entries of the mapping table, by function and level
  bool fetch_asked_ = false; // RTL requests this entry
  uint32_t fetched_entry_ = 0;
  uint32_t inspected_ = 0; // index in live_
  uint32_t least_inspected_ = ~0U;
  uint32_t most_inspected_ = 0;
  std::deque<KickUnit> refusals_; // refused commands that must leave next, before all others
  // The pin that must end in the next clock; of_model: the model's pin ends then too.
  struct Unpin {
    uint32_t number = 0;
    bool of_model = false;
  };
  std::optional<Unpin> unpin_;
  std::optional<Unpin> unpin_refused_;                  // one clock later
  std::vector<std::pair<uint32_t, FinishUnit>> ending_; // accepted in the preceding clock, by port
  // The commands that left their lists last.
  struct Left {
    uint64_t clock = 0;
    uint32_t lane = 0;
    uint32_t function = 0;
  };
  std::deque<Left> left_;
  std::deque<Taken> taken_;  // started and still on their lists
  std::deque<KickUnit> out_; // started, and off their lists
  std::array<uint32_t, lanes> flying_{};
  std::array<uint32_t, lanes> turns_{};
  std::array<uint32_t, lanes> discard_waited_{};
  // By number: new entry credits and list sizes, both of which take effect after two clocks.
  std::array<std::optional<std::pair<uint32_t, uint32_t>>, 2> entry_credits_due_;
  std::array<std::optional<std::pair<uint32_t, uint32_t>>, 2> sizes_due_;
  // In recent clocks: lanes with credits of their own; lanes below their cap; lanes whose credits were
  // divided.
  std::array<Recent, 2> own_free_, below_cap_, credits_set_; // by CreditKind
  // By queue pair: the lane and the clock of its last kick, and the clock in which its last command ended.
  std::array<uint32_t, queue_pairs> decided_lane_{};
  std::array<uint64_t, queue_pairs> decided_at_{};
  std::array<uint64_t, queue_pairs> ended_at_{};
  std::vector<Running> running_;
  std::array<std::deque<FinishUnit>, ports> finishes_;
  std::array<uint32_t, ports> waited_{};

  std::bitset<entries> on_list_; // PCBs
  std::bitset<entries> dropped_; // the dropped ones of these
  uint32_t dropping_clocks_ = 0; // clocks that the RTL still needs
  uint64_t dropping_end_ = 0;    // clock
  uint32_t left_to_drop_ = 0;
  uint32_t dropped_number_ = 0; // queue pair

  uint64_t started_ = 0;
  uint64_t discarded_ = 0;
  uint64_t shared_ = 0;
  uint64_t refused_ = 0;
  uint64_t stale_ = 0;
  uint64_t full_ = 0;
  uint64_t fetches_ = 0;
};

} // namespace fpga_verbs::bench
