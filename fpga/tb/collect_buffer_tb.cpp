// collect_buffer in lockstep with the device model: commands from a seed, split, reordered, repeated and
// spoiled, in bursts on the AXI port, and every kick, notice, refusal, count, state and stored command
// compared. Arguments: seed, clocks.
//
// The shape (BEAT_BYTES and the other parameters) is given to Verilator and, by the same names, to this file.
#include "Vcollect_buffer.h"
#include "bench.h"
#include "collect_buffer_commands.h"
#include "hca/collect_buffer.h"

#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vcollect_buffer;
using spec::PhysicalCollectBufferState;
using spec::VirtualCollectBufferState;

enum Control : uint8_t { cancel, close, open };

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    rtl_.reset = 1;
    tick();
    tick();
    rtl_.reset = 0;
    rtl_.unit_credit = 1;
    for (place_.clock = 0; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock >= next_division_)
        change_division();
      drive();
      tick();
      follow();
    }
    std::printf("%llu clocks, %llu beats, %llu kicks, %llu in send queue mode; refusals",
                static_cast<unsigned long long>(clocks_), static_cast<unsigned long long>(beats_),
                static_cast<unsigned long long>(kicks_),
                static_cast<unsigned long long>(send_queue_mode_kicks_));
    for (const uint64_t count : refusals_)
      std::printf(" %llu", static_cast<unsigned long long>(count));
    std::printf("\nmost beats on end %llu, most clocks to a kick %u\n",
                static_cast<unsigned long long>(most_on_end_), most_latency_);
#if VM_COVERAGE
    VerilatedCov::write("coverage.dat");
#endif
    return 0;
  }

  // The patent's table (US8589610), row by row: each write, then mask and scoreboard.
  void table() {
    struct Row {
      uint32_t offset;
      uint32_t bytes;
      uint64_t mask;
      uint64_t scoreboard;
    };
    constexpr std::array rows{
        Row{0x10, 8, 0x0000000004, 0x0000000004}, Row{0x20, 32, 0x00000000f0, 0x00000000f4},
        Row{0x00, 8, 0xfffffffc01, 0xfffffffcf5}, Row{0x08, 8, 0x0000000002, 0xfffffffcf7},
        Row{0x18, 8, 0x0000000008, 0xfffffffcff}, Row{0x40, 16, 0x0000000300, 0xffffffffff}};
    rtl_.reset = 1;
    step();
    rtl_.reset = 0;
    rtl_.unit_credit = 1;
    rtl_.bready = 1;
    std::array<uint8_t, spec::command_bytes> bytes{};
    spec::CommandHeader header;
    header.set_queue_pair_number(functions);
    header.set_length(16);
    header.set_version(spec::command_version);
    header.set_quality_of_service_level(QueuePairs::level(functions));
    std::memcpy(bytes.data(), &header, sizeof(header));
    uint64_t direct_mask = 0;
    for (const Row& row : rows) {
      bool kicked = false;
      for (uint32_t at = row.offset; at < row.offset + row.bytes; at += std::min(beat_bytes, row.bytes)) {
        rtl_.awaddr = at;
        rtl_.awlen = 0;
        rtl_.awsize = static_cast<uint8_t>(std::countr_zero(beat_bytes));
        rtl_.awuser = 0;
        rtl_.awvalid = 1;
        rtl_.wvalid = rtl_.wlast = 1;
        const uint32_t size = std::min(beat_bytes, row.bytes);
        uint64_t strobes = size == 64 ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
        strobes <<= at % beat_bytes;
        rtl_.wstrb = strobes;
        std::memcpy(reinterpret_cast<uint8_t*>(&rtl_.wdata) + at % beat_bytes, bytes.data() + at, size);
        step();
        rtl_.awvalid = 0;
        step();
        rtl_.wvalid = 0;
        const spec::QueuePairControl* control =
            queue_pairs_.find_control(rtl_.find_underlying_function, rtl_.find_queue_pair_number);
        step();
        rtl_.queue_pair_found = control != nullptr;
        rtl_.queue_pair_quality_of_service_level =
            control == nullptr ? 0 : static_cast<uint8_t>(control->quality_of_service_level());
        step();
        kicked = kicked || rtl_.kick;
      }
      rtl_.inspect_virtual_collect_buffer = 0;
      rtl_.eval();
      expect_value("scoreboard or mask of the table", rtl_.inspect_scoreboard | rtl_.inspect_scoreboard_mask,
                   row.scoreboard);
      if (row.offset == 0)
        direct_mask = 0xfffffffc00;
      if (is_direct) {
        expect_value("mask of the table", rtl_.inspect_scoreboard_mask, direct_mask);
        expect_value("scoreboard of the table", rtl_.inspect_scoreboard, row.scoreboard & ~direct_mask);
      } else {
        expect_value("scoreboard of the table", rtl_.inspect_scoreboard, row.scoreboard);
        if (row.bytes <= beat_bytes)
          expect_value("mask of the table", rtl_.inspect_scoreboard_mask, row.mask);
      }
      expect_value("kick of the table", kicked, row.scoreboard == 0xffffffffff);
    }
  }

private:
  // A clock without a look at what was handed over.
  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    rtl_.clock = 1;
    rtl_.eval();
  }

  void tick() {
    rtl_.clock = 0;
    rtl_.eval();
    before_edge();
    rtl_.clock = 1;
    rtl_.eval();
  }

  void expect_value(const char* what, uint64_t rtl, uint64_t model) { expect(place_, what, rtl, model); }

  // --- What the host writes.

  uint8_t user_of(uint32_t page) {
    const uint32_t owner = owner_of(page);
    constexpr uint32_t known = functions > 1 ? 1U << std::bit_width(functions - 1) : 2;
    if (random_.once(2))
      return static_cast<uint8_t>(random_.below(functions));
    return static_cast<uint8_t>(known | (random_.once(20) ? random_.below(functions) : owner));
  }

  uint32_t owner_of(uint32_t page) const {
    for (uint32_t function = 0; function < functions; ++function) {
      const hca::VirtualCollectBufferBar& bar = model_.bar(function);
      if (page >= bar.base && page < bar.base + bar.count)
        return function;
    }
    return 0;
  }

  // A piece of the page as beats of one burst.
  void write_piece(uint32_t page, uint32_t offset, const uint8_t* data, uint32_t bytes, uint64_t hidden) {
    Burst burst;
    uint32_t beat_size = beat_bytes;
    if (random_.once(4))
      beat_size = std::max(4U, beat_bytes >> random_.below(3));
    burst.size = static_cast<uint8_t>(std::countr_zero(beat_size));
    const uint8_t user = user_of(page);
    for (uint32_t at = offset; at < offset + bytes;) {
      const uint32_t end = std::min((at / beat_size + 1) * beat_size, offset + bytes);
      Beat beat{.address = page * page_bytes + at, .user = user};
      for (; at < end; ++at) {
        const uint32_t lane = at % beat_bytes;
        beat.data[lane] = data[at - offset];
        if ((hidden >> (at - offset) / 4 % 64 & 1) == 0)
          beat.strobes |= uint64_t{1} << lane;
      }
      burst.beats.push_back(beat);
    }
    if (random_.once(80)) // part of a DWORD
      burst.beats.back().strobes &= burst.beats.back().strobes - 1;
    burst.beats.back().last = true;
    bursts_.push_back(burst);
  }

  // One command as pieces of 4 to 64 B in some order, some of them twice.
  void write_command(uint32_t page) {
    uint32_t length = 0;
    const auto bytes = make_command(random_, owner_of(page), length);
    uint32_t end = hca::segments_needed(std::min(length, spec::command_payload_bytes)) * spec::segment_bytes;
    if (random_.once(15))
      end = std::min(end + 8, spec::command_bytes);
    std::vector<std::pair<uint32_t, uint32_t>> pieces;
    const uint32_t largest = std::array{4U, 8U, 16U, 64U, 320U}[random_.below(5)];
    for (uint32_t at = 0; at < end;) {
      const uint32_t size = std::min({largest, end - at, random_.once(4) ? 4U : largest});
      pieces.emplace_back(at, size);
      at += size;
    }
    if (random_.once(2))
      for (size_t place = pieces.size(); place > 1; --place)
        std::swap(pieces[place - 1], pieces[random_.below(static_cast<uint32_t>(place))]);
    if (random_.once(4))
      pieces.insert(pieces.begin() + random_.below(static_cast<uint32_t>(pieces.size())),
                    pieces[random_.below(static_cast<uint32_t>(pieces.size()))]);
    if (random_.once(12))
      pieces.pop_back(); // half written
    for (const auto& [at, size] : pieces)
      write_piece(page, at, bytes.data() + at, size, random_.once(30) ? random_.bits() : 0);
  }

  void write_slots(uint32_t page) {
    std::array<uint8_t, 32> bytes{};
    for (uint32_t slot = 0; slot < 3; ++slot) {
      spec::DoorbellSlotWrite value;
      value.set_queue_pair_number(random_.below(QueuePairs::count));
      value.set_send_queue_sequence_number(random_.below(65536));
      if (random_.once(20))
        value.dwords[1] |= 1U << 31;
      std::memcpy(bytes.data() + slot * 8, value.dwords.data(), 8);
    }
    const uint32_t first = random_.below(6) * 4;
    const uint32_t size = random_.once(3) ? 4 : 8U << random_.below(3);
    const uint32_t allowed = random_.once(10) ? 32 : 24;
    write_piece(page, spec::doorbell_slots_offset + first, bytes.data() + first,
                std::min(size, allowed - first), 0);
  }

  void choose_writes() {
    const uint32_t page = random_.below(vcbs);
    const std::array<uint8_t, 8> nothing{};
    const bool in_error = model_.virtual_collect_buffer(page).state == VirtualCollectBufferState::error;
    if (in_error && !random_.once(6))
      write_piece(page, spec::doorbell_slots_offset + 16, nothing.data(), 8, 0);
    else if (random_.once(8))
      write_slots(page);
    else if (random_.once(60))
      write_piece(page, 320 + random_.below(900) * 4, std::array<uint8_t, 4>{1, 2, 3, 4}.data(), 4, 0);
    else
      write_command(page);
  }

  // --- The AXI port.

  void drive() {
    if (bursts_.size() < 4)
      choose_writes();
    gap_ = gap_ ? !random_.once(3) : random_.once(40);
    rtl_.bready = !random_.once(5);
    rtl_.awvalid = addressed_ < bursts_.size() && addressed_ < 2 && !gap_;
    if (rtl_.awvalid) {
      const Burst& burst = bursts_[addressed_];
      rtl_.awaddr = burst.beats[0].address;
      rtl_.awlen = static_cast<uint8_t>(burst.beats.size() - 1);
      rtl_.awsize = burst.size;
      rtl_.awuser = burst.beats[0].user;
    }
    rtl_.wvalid = !bursts_.empty() && !gap_;
    if (rtl_.wvalid) {
      const Beat& beat = bursts_[0].beats[beat_];
      std::memcpy(&rtl_.wdata, beat.data.data(), beat_bytes);
      rtl_.wstrb = beat.strobes;
      rtl_.wlast = beat.last;
    }
    rtl_.release_buffer = !kicked_.empty() && random_.once(static_cast<uint32_t>(release_pace_));
    if (rtl_.release_buffer)
      rtl_.release_physical_collect_buffer = kicked_.front();
    rtl_.control = rtl_.control_ready && random_.once(150);
    rtl_.control_command = random_.below(3);
    rtl_.control_virtual_collect_buffer = random_.below(vcbs);
    if (opening_ < vcbs && rtl_.control_ready) { // what was closed for long
      rtl_.control = 1;
      rtl_.control_command = open;
      rtl_.control_virtual_collect_buffer = opening_++;
    }
    if (rtl_.control)
      controlled_ = place_.clock;
    if (rtl_.control)
      controls_.push_back({static_cast<uint8_t>(rtl_.control_command), rtl_.control_virtual_collect_buffer});
  }

  // Handshakes of this clock, and what the queue pair state cache will answer in the next.
  void before_edge() {
    const hca::BarWrite none;
    const bool taken = rtl_.wvalid && rtl_.wready && !rtl_.reset;
    on_end_ = taken ? on_end_ + 1 : 0;
    most_on_end_ = std::max(most_on_end_, on_end_);
    if (rtl_.awvalid && rtl_.awready && !rtl_.reset)
      ++addressed_;
    if (taken) {
      const Beat& beat = bursts_[0].beats[beat_];
      hca::BarWrite write = none;
      write.region = spec::RegionType::virtual_collect_buffer;
      constexpr uint32_t known = functions > 1 ? 1U << std::bit_width(functions - 1) : 2;
      if ((beat.user & known) != 0)
        write.underlying_function = static_cast<uint8_t>(beat.user & ~known);
      write.page = static_cast<uint16_t>(beat.address / page_bytes);
      write.offset = beat.address % page_bytes / beat_bytes * beat_bytes;
      write.length = beat_bytes;
      write.byte_enables = beat.strobes;
      std::memcpy(write.data.data(), beat.data.data(), beat_bytes);
      writes_.push_back({write, place_.clock});
      if (++beat_ == bursts_[0].beats.size()) {
        bursts_.pop_front();
        beat_ = 0;
        --addressed_;
      }
      ++beats_;
    }
    const spec::QueuePairControl* control =
        queue_pairs_.find_control(rtl_.find_underlying_function, rtl_.find_queue_pair_number);
    found_ = control != nullptr;
    if (found_)
      found_control_ = *control;
  }

  // --- The model.

  void follow() {
    rtl_.queue_pair_found = found_;
    if (found_) {
      rtl_.queue_pair_quality_of_service_level =
          static_cast<uint8_t>(found_control_.quality_of_service_level());
      rtl_.queue_pair_checksum_secret = found_control_.checksum_secret();
    }
    keep_units();
    if (rtl_.control_done)
      follow_control();
    if (rtl_.beat_done) {
      const auto [write, clock] = writes_.front();
      writes_.pop_front();
      model_.write(write);
      if (!kicks_collected_.empty()) {
        const auto latency = static_cast<uint32_t>(place_.clock + 1 - clock);
        const bool waited = controlled_ >= clock && controlled_ != 0; // behind a control command
        if (!waited)
          most_latency_ = std::max(most_latency_, latency);
        if (!waited && latency > kick_latency)
          differ(place_, "clocks to a kick", latency, kick_latency);
      }
    }
    if (rtl_.beat_done || rtl_.control_done)
      compare_units();
    if (rtl_.release_buffer) {
      model_.release(kicked_.front());
      kicked_.pop_front();
    }
    if (rtl_.beat_done || rtl_.control_done || writes_.empty())
      compare_state();
    compare_stored();
  }

  void follow_control() {
    const auto [command, page] = controls_.front();
    controls_.pop_front();
    if (command == cancel)
      model_.cancel(page);
    else if (command == close)
      model_.close(page);
    else
      model_.open(page);
  }

  void keep_units() {
    if (rtl_.kick) {
      spec::KickUnit unit;
      std::memcpy(&unit, &rtl_.kick_unit, sizeof(unit));
      rtl_kicks_.push_back(unit);
    }
    if (rtl_.post_notice) {
      spec::PostNotice unit;
      std::memcpy(&unit, &rtl_.post_notice_unit, sizeof(unit));
      rtl_notices_.push_back(unit);
    }
    if (rtl_.refused) {
      spec::EventUnit unit;
      std::memcpy(&unit, &rtl_.refused_event, sizeof(unit));
      rtl_events_.push_back(unit);
    }
    counts_.unclaimed += rtl_.write_unclaimed;
    counts_.send_queue_mode += rtl_.send_queue_mode_kick;
    counts_.dropped[rtl_.counted_underlying_function] += rtl_.write_dropped;
    counts_.cancelled[rtl_.counted_underlying_function] += rtl_.command_cancelled;
  }

  template <class Unit> void compare_unit(const char* what, const Unit& rtl, const Unit& model) {
    for (size_t dword = 0; dword < model.dwords.size(); ++dword)
      expect_value(what, rtl.dwords[dword], model.dwords[dword]);
  }

  template <class Units, class Model> void compare_list(const char* what, Units& rtl, Model& model) {
    while (!rtl.empty() && !model.empty()) {
      compare_unit(what, rtl.front(), model.front());
      rtl.pop_front();
      if constexpr (requires { model.pop_front(); })
        model.pop_front();
      else
        model.pop();
    }
    if (rtl.empty() != model.empty())
      differ(place_, what, rtl.size(), model.size());
  }

  void compare_units() {
    if (!kicks_collected_.empty()) {
      ++kicks_;
      const uint16_t buffer = kicks_collected_.front().physical_collect_buffer();
      kicked_.push_back(buffer);
      stored_ = buffer;
      stored_beat_ = 0;
      stored_asked_ = false;
    }
    for (const spec::EventUnit& event : events_.events)
      ++refusals_[event.reason()];
    compare_list("kick", rtl_kicks_, kicks_collected_);
    compare_list("post notice", rtl_notices_, post_notices_);
    compare_list("refusal", rtl_events_, events_.events);
    uint64_t kicks = 0;
    for (uint32_t function = 0; function < functions; ++function) {
      const hca::FunctionCounters& counters = counters_.function[function];
      kicks += counters.send_queue_mode_kicks;
      expect_value("writes dropped", counts_.dropped[function], counters.writes_dropped);
      expect_value("commands cancelled", counts_.cancelled[function], counters.commands_cancelled);
    }
    expect_value("kicks in send queue mode", counts_.send_queue_mode, kicks);
    expect_value("writes unclaimed", counts_.unclaimed, counters_.device.writes_unclaimed);
    send_queue_mode_kicks_ = kicks;
  }

  void compare_state() {
    const uint32_t page = random_.below(vcbs);
    rtl_.inspect_virtual_collect_buffer = page;
    rtl_.eval();
    const hca::VirtualCollectBuffer& vcb = model_.virtual_collect_buffer(page);
    expect_value("VCB state", rtl_.inspect_state, static_cast<uint64_t>(vcb.state));
    if (vcb.state == VirtualCollectBufferState::error)
      expect_value("refusal of the VCB", rtl_.inspect_refusal, static_cast<uint64_t>(vcb.refusal));
    if (vcb.state == VirtualCollectBufferState::collecting) {
      const hca::PhysicalCollectBuffer& pcb = model_.buffer(vcb.physical_collect_buffer);
      expect_value("PCB bound", rtl_.inspect_physical_collect_buffer, vcb.physical_collect_buffer);
      expect_value("scoreboard", rtl_.inspect_scoreboard, pcb.scoreboard);
      expect_value("scoreboard mask", rtl_.inspect_scoreboard_mask, pcb.scoreboard_mask);
    }
    for (uint16_t buffer = 0; buffer < pcbs; ++buffer)
      expect_value("free PCB", uint64_t{rtl_.free_buffers} >> buffer & 1,
                   model_.buffer(buffer).state == PhysicalCollectBufferState::free);
  }

  // A kicked command is read back, a beat a clock, as long as its PCB is not given back.
  void compare_stored() {
    if (stored_ != hca::no_buffer && stored_asked_ &&
        model_.buffer(stored_).state == PhysicalCollectBufferState::kicked) {
      const uint32_t at = stored_beat_ * beat_bytes;
      const uint32_t used =
          hca::segments_needed(model_.buffer(stored_).header().length()) * spec::segment_bytes;
      if (at < used) {
        const uint32_t bytes = std::min(beat_bytes, used - at);
        if (std::memcmp(&rtl_.read_data, model_.buffer(stored_).data.data() + at, bytes) != 0)
          differ(place_, "stored command, at byte", at, used);
        ++stored_beat_;
      } else {
        stored_ = hca::no_buffer;
      }
    }
    stored_asked_ = stored_ != hca::no_buffer;
    rtl_.read_physical_collect_buffer = stored_ == hca::no_buffer ? 0 : stored_;
    rtl_.read_beat = stored_beat_;
  }

  // --- BARs and allotments, while nothing is under way.

  void settle() {
    rtl_.awvalid = rtl_.wvalid = rtl_.control = rtl_.release_buffer = 0;
    for (; !writes_.empty() || !controls_.empty(); ++place_.clock) {
      tick();
      follow();
    }
  }

  void change_division() {
    next_division_ = place_.clock + 512;
    settle();
    const uint32_t function = random_.below(functions);
    rtl_.set_underlying_function = function;
    release_pace_ = 1 + random_.below(40);
    opening_ = 0;
    hca::CollectAllotment allotment{random_.below(4), random_.below(4), random_.below(4)};
    rtl_.set_allotment_low = allotment.low;
    rtl_.set_allotment_high = allotment.high;
    rtl_.set_allotment_shared = allotment.shared;
    rtl_.eval();
    expect_value("allotment allowed", rtl_.allotment_allowed,
                 model_.groups().set_allotment(function, allotment));
    rtl_.set_allotment = 1;
    hca::VirtualCollectBufferBar bar = model_.bar(function);
    bar.low = random_.below(bar.count + 1);
    bar.high = bar.low + random_.below(bar.count - bar.low + 1);
    rtl_.set_bar = model_.set_bar(function, bar);
    rtl_.set_bar_base = bar.base;
    rtl_.set_bar_count = bar.count;
    rtl_.set_bar_low = bar.low;
    rtl_.set_bar_high = bar.high;
    tick();
    rtl_.set_allotment = rtl_.set_bar = 0;
  }

  static hca::HcaParameters parameters() {
    hca::HcaParameters parameters;
    parameters.underlying_functions = functions;
    parameters.virtual_collect_buffers = vcbs;
    parameters.physical_collect_buffers = pcbs;
    parameters.scoreboard_variant =
        is_direct ? spec::ScoreboardVariant::direct : spec::ScoreboardVariant::masked;
    return parameters;
  }

  Rtl rtl_;
  hca::HcaParameters parameters_ = parameters();
  hca::Counters counters_;
  TestClock clock_;
  NoHost host_;
  KeptEvents events_;
  QueuePairs queue_pairs_;
  hca::KickRecords kick_records_{counters_, host_, clock_, events_};
  hca::DataLink<spec::KickUnit, 128> kicks_collected_;
  hca::DataLink<spec::PostNotice, 16> post_notices_;
  hca::DataLink<spec::ManagementUnit, 16> management_units_;
  hca::CollectBuffer model_{parameters_,   counters_,        clock_,        queue_pairs_,     events_,
                            kick_records_, kicks_collected_, post_notices_, management_units_};
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint64_t next_division_ = 0;

  std::deque<Burst> bursts_;
  size_t beat_ = 0;      // of the first burst
  size_t addressed_ = 0; // bursts whose address was taken
  bool gap_ = false;
  std::deque<std::pair<hca::BarWrite, uint64_t>> writes_; // taken, with the clock
  std::deque<std::pair<uint8_t, unsigned>> controls_;
  std::deque<uint16_t> kicked_;
  uint64_t release_pace_ = 1;
  uint32_t opening_ = vcbs;
  uint64_t controlled_ = 0; // clock of the last control command
  bool found_ = false;
  spec::QueuePairControl found_control_;
  uint16_t stored_ = hca::no_buffer;
  uint32_t stored_beat_ = 0;
  bool stored_asked_ = false;

  std::deque<spec::KickUnit> rtl_kicks_;
  std::deque<spec::PostNotice> rtl_notices_;
  std::deque<spec::EventUnit> rtl_events_;
  struct {
    uint64_t unclaimed = 0;
    uint64_t send_queue_mode = 0;
    std::array<uint64_t, functions> dropped{};
    std::array<uint64_t, functions> cancelled{};
  } counts_;
  uint64_t beats_ = 0;
  uint64_t kicks_ = 0;
  uint64_t send_queue_mode_kicks_ = 0;
  uint64_t on_end_ = 0;
  uint64_t most_on_end_ = 0;
  uint32_t most_latency_ = 0;
  std::array<uint64_t, 18> refusals_{};
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  if (count != 3) {
    std::printf("usage: %s SEED CLOCKS\n", arguments[0]);
    return 2;
  }
  fpga_verbs::bench::Bench bench(std::strtoull(arguments[1], nullptr, 0),
                                 std::strtoull(arguments[2], nullptr, 0));
  bench.table();
  return bench.run();
}
