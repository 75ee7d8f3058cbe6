#pragma once

#include "Vcollect_buffer.h"
#include "bench.h"
#include "collect_buffer_commands.h"
#include "collect_buffer_writes.h"
#include "hca/base/hca_links.h"
#include "hca/collect/collect_buffer.h"
#include "spec/enums.h"

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {

using spec::PhysicalCollectBufferState;
using spec::VirtualCollectBufferState;
using Control = spec::CollectBufferControl;

// collect_buffer in RTL, the device model beside it, and the bench's record of both.
class CollectBufferPair {
public:
  CollectBufferPair(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

protected:
  // A PCB by its number in the RTL and in the model: each selects a free one itself.
  struct Buffer {
    uint16_t model = hca::no_buffer;
    uint16_t rtl = hca::no_buffer;
  };
  // Clocks within which the RTL may not know of a released PCB.
  static constexpr uint64_t comes_back_late = 12;
  struct TakenBeat {
    hca::BarWrite write; // without its data
    std::array<uint8_t, hca::line_bytes> data{};
    uint64_t clock = 0;
  };

  void expect_value(const char* what, uint64_t rtl, uint64_t model) { expect(place_, what, rtl, model); }

  uint32_t free_of_model() const {
    uint32_t free = 0;
    for (uint16_t buffer = 0; buffer < pcbs + dedicated; ++buffer)
      free += buffers_[buffer].state == PhysicalCollectBufferState::free;
    return free;
  }

  void note_return(uint32_t free_before) {
    if (free_of_model() > free_before)
      came_back_ = place_.clock;
  }

  // 0: of the pool; 1: for management; 2: for fetched commands.
  static unsigned kind_of(uint16_t buffer) { return buffer < pcbs ? 0 : buffer < pcbs + management ? 1 : 2; }

  static hca::HcaParameters parameters() {
    hca::HcaParameters parameters;
    parameters.underlying_functions = functions;
    parameters.virtual_collect_buffers = vcbs;
    parameters.physical_collect_buffers = pcbs;
    parameters.dedicated_physical_collect_buffers = dedicated;
    parameters.management_physical_collect_buffers = management;
    parameters.scoreboard_variant = scoreboard_variant;
    return parameters;
  }

  Vcollect_buffer rtl_;
  hca::HcaParameters parameters_ = parameters();
  hca::Counters counters_;
  TestClock clock_;
  RecordHost host_;
  KeptEvents events_;
  QueuePairs queue_pairs_;
  hca::KickRecords kick_records_{counters_, host_, clock_, events_};
  hca::HcaLinks links_;
  hca::DataLink<spec::KickUnit>& kicks_collected_ = links_.kicks_collected;
  hca::DataLink<spec::PostNotice>& post_notices_ = links_.post_notices;
  hca::DataLink<spec::ManagementUnit>& management_units_ = links_.management_units;
  hca::PhysicalCollectBuffers buffers_{parameters_};
  hca::CollectBuffer model_{{parameters_, counters_, clock_, buffers_, queue_pairs_, events_, kick_records_,
                             kicks_collected_, post_notices_, management_units_}};
  Random random_;
  Random host_random_{1};
  Place place_;
  uint64_t clocks_;
  uint64_t next_division_ = 0;

  HostWrites writes_of_host_{random_, model_};
  std::deque<Burst>& bursts_ = writes_of_host_.bursts();
  size_t beat_ = 0;      // of the first burst
  size_t addressed_ = 0; // bursts whose address was accepted
  bool gap_ = false;
  bool address_waits_ = false;
  bool data_waits_ = false;
  bool holds_responses_ = false;
  uint32_t without_room_ = 0; // clocks left
  uint64_t paused_ = 0;       // clocks
  std::array<uint32_t, 4> units_since_credit_{};
  uint64_t owed_responses_ = 0;
  std::deque<TakenBeat> writes_;
  std::deque<std::pair<Control, unsigned>> controls_;
  std::deque<Buffer> kicked_;
  uint64_t came_back_ = 0; // clock of the last release of a PCB
  uint64_t said_early_ = 0;
  uint64_t passed_ = 0; // beats done before earlier ones
  bool rests_ = false;
  uint16_t rtl_fetching_ = hca::no_buffer;
  uint16_t rtl_stored_ = hca::no_buffer;
  uint64_t release_pace_ = 1;
  uint32_t opening_ = vcbs;
  bool found_ = false;
  spec::QueuePairControl found_control_;
  uint16_t stored_ = hca::no_buffer;
  uint32_t stored_beat_ = 0;
  bool stored_asked_ = false;

  std::deque<spec::KickUnit> rtl_kicks_;
  std::deque<spec::PostNotice> rtl_notices_;
  std::deque<spec::ManagementUnit> rtl_management_;
  std::deque<spec::KickRecord> rtl_records_;
  std::deque<spec::EventUnit> rtl_events_;
  std::vector<spec::EventUnit> rtl_half_written_;
  struct {
    uint64_t unclaimed = 0;
    uint64_t send_queue_mode = 0;
    uint64_t send_queue_mode_entered = 0;
    std::array<uint64_t, functions> dropped{};
    std::array<uint64_t, functions> cancelled{};
  } counts_;
  uint64_t beats_ = 0;
  uint64_t kicks_ = 0;
  uint64_t management_kicks_ = 0;
  uint64_t half_written_ = 0;
  uint32_t passes_ = 0; // number of times that time has passed
  uint64_t fetched_ = 0;
  uint64_t handed_over_ = 0; // half-written commands handed to the send queue
  uint16_t fetching_ = hca::no_buffer;
  uint8_t fetched_beats_ = 0; // beats of the fetched command
  bool stores_ = false;
  uint64_t send_queue_mode_kicks_ = 0;
  uint64_t on_end_ = 0;
  uint64_t most_on_end_ = 0;
  uint32_t most_latency_ = 0;
  std::array<uint64_t, 19> refusals_{};
};

} // namespace fpga_verbs::bench
