#pragma once

#include "host_memory_bench.h"
#include "spec/enums.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace fpga_verbs::bench {

// The mapping table of lanes while other events occur in any clock of a fetch; the model's fetch takes no
// time. Each entry holds lanes that no entry has held before, so that lanes tell when and where the RTL read
// them.
class LaneMapCases {
public:
  explicit LaneMapCases(HostMemoryBench& bench) : bench_(bench) {}

  void run() {
    bench_.slave.set_speed(60);
    bench_.slave.set_latency(20);
    expect(bench_.place, "the table is moved", bench_.set_lane_map_address(lane_table), 1);
    uint32_t during = 0;
    for (uint32_t round = 0; round < 10 * delays; ++round) {
      const uint32_t delay = round % delays;
      during += invalidate(delay);
      invalidate_another(delay);
      withdraw(delay);
      move(delay);
    }
    expect(bench_.place, "some were invalidated during the fetch", during > 100, 1);
    share();
  }

private:
  static constexpr uint32_t delays = 40; // Usually more than a fetch takes.
  static constexpr uint64_t other_table = 0x7'1234'5008;

  // The host writes an entry and invalidates it: the RTL must no longer return the previous lanes. Returns 1
  // if the fetch was still in progress.
  uint32_t invalidate(uint32_t delay) {
    const uint32_t entry = bench_.random.below(lane_entries);
    const uint64_t old = write_entry(lane_table, entry);
    uint64_t lanes = old;
    bool is_over = false;
    const std::optional<uint64_t> given = fetch_while(entry, [&](uint32_t clock) {
      bench_.rtl.invalidate_lanes = clock == delay;
      if (clock != delay)
        return;
      lanes = write_entry(lane_table, entry);
      bench_.rtl.invalidate_lanes_entries = 1 << entry;
      bench_.rtl.eval();
      is_over = bench_.rtl.lanes_read; // virtual_kick requests it again.
    });
    expect(bench_.place, "lanes since the entry was invalidated", given.value_or(0), is_over ? old : lanes);
    return lanes != old && !is_over;
  }

  // Invalidates the other entries, which must not cause a second access.
  void invalidate_another(uint32_t delay) {
    const uint32_t entry = bench_.random.below(lane_entries);
    const uint64_t lanes = write_entry(lane_table, entry);
    const uint64_t before = bench_.slave.bursts();
    const std::optional<uint64_t> given = fetch_while(entry, [&](uint32_t clock) {
      bench_.rtl.invalidate_lanes = clock == delay;
      bench_.rtl.invalidate_lanes_entries = static_cast<uint8_t>(~(1 << entry));
    });
    expect(bench_.place, "lanes", given.value_or(0), lanes);
    expect(bench_.place, "accesses of a fetch", bench_.slave.bursts(), before + 1);
  }

  // The kick goes away, and one of another entry follows: it must not get the lanes of the first.
  void withdraw(uint32_t delay) {
    const uint32_t entry = bench_.random.below(lane_entries);
    const uint32_t other = (entry + 1 + bench_.random.below(lane_entries - 1)) % lane_entries;
    const uint64_t lanes = write_entry(lane_table, entry);
    const uint64_t other_lanes = write_entry(lane_table, other);
    bool is_withdrawn = false;
    const std::optional<uint64_t> given = fetch_while(entry, [&](uint32_t clock) {
      if (clock == delay) {
        is_withdrawn = true;
        bench_.rtl.fetch_lanes = 0;
      } else if (clock == delay + 1) {
        bench_.ask_for(other);
      }
    });
    expect(bench_.place, "lanes of the entry that is asked for", given.value_or(0),
           is_withdrawn ? other_lanes : lanes);
  }

  // The table moves: once the new address is accepted, the RTL reads the old table no more, and no read of it
  // is in flight.
  void move(uint32_t delay) {
    const uint32_t entry = bench_.random.below(lane_entries);
    const uint64_t lanes = write_entry(lane_table, entry);
    const uint64_t other_lanes = write_entry(other_table, entry);
    bool is_moved = false;
    bool was_read = false;
    bench_.rtl.set_lane_map_address_address = other_table;
    const std::optional<uint64_t> given = fetch_while(entry, [&](uint32_t clock) {
      const bool reads = bench_.rtl.memory_arvalid && bench_.rtl.memory_araddr == lane_entry_of(entry);
      was_read = was_read || reads;
      if (is_moved)
        expect(bench_.place, "a read of the former table", reads, 0);
      bench_.rtl.set_lane_map_address = clock >= delay && !is_moved;
      bench_.rtl.eval();
      if (!bench_.rtl.set_lane_map_address || !bench_.rtl.set_lane_map_address_ready)
        return;
      expect(bench_.place, "nothing is read there any more", bench_.rtl.idle, 1);
      is_moved = true;
    });
    bench_.rtl.set_lane_map_address = 0;
    expect(bench_.place, "lanes of the table that was read", given.value_or(0),
           was_read ? lanes : other_lanes);
    expect(bench_.place, "the table is moved", bench_.set_lane_map_address(other_table), 1);
    expect(bench_.place, "lanes of the table now", bench_.fetch(entry).value_or(0), other_lanes);
    expect(bench_.place, "the table is moved back", bench_.set_lane_map_address(lane_table), 1);
  }

  // Records arrive as fast as the host accepts them, while the RTL reads one entry after the other.
  void share() {
    constexpr uint32_t records = 400;
    constexpr uint32_t latency = 30;
    bench_.slave.set_speed(100);
    bench_.slave.set_latency(latency);
    bench_.write_64(0, function_page::kick_record_address, base + 0x40'0000);
    function_page::KickRecordControl control;
    control.set_enable(1);
    control.set_entries_log2(10);
    expect(bench_.place, "control", bench_.write(0, function_page::kick_record_control, control.bits), 1);
    const auto written = [&] { return bench_.read(0, function_page::kick_records_written); };
    const uint32_t before = written();
    const spec::KickUnit unit = bench_.kick_unit(0);
    std::memcpy(&bench_.rtl.record_unit, &unit, sizeof(unit));
    bench_.rtl.record = 1;
    while (written() - before < records) {
      const uint32_t entry = bench_.random.below(lane_entries);
      const uint64_t lanes = write_entry(lane_table, entry);
      uint32_t clocks = 0;
      const std::optional<uint64_t> given = fetch_while(entry, [&](uint32_t clock) { clocks = clock; });
      expect(bench_.place, "lanes among records", given.value_or(0), lanes);
      expect(bench_.place, "an entry gets its turn among records", clocks <= 8 * latency + 200, 1);
    }
    bench_.rtl.record = 0;
    bench_.settle();
  }

  // Lanes that no entry has had yet.
  uint64_t write_entry(uint64_t table, uint32_t entry) {
    const uint64_t lanes = ++lanes_ << 32 | lanes_;
    bench_.memory.write(table + 8 * entry, &lanes, sizeof(lanes));
    return lanes;
  }

  // Fetches an entry, which is accepted at once, and calls the function before the rising edge of each clock.
  template <class Happens> std::optional<uint64_t> fetch_while(uint32_t entry, Happens happens) {
    std::optional<uint64_t> lanes;
    uint32_t clock = 0;
    bench_.ask_for(entry);
    bench_.until("lanes_read", [&] {
      happens(clock++);
      bench_.rtl.eval();
      return bench_.rtl.lanes_read && bench_.take_lanes(lanes);
    });
    bench_.end_fetch();
    bench_.rtl.invalidate_lanes = 0;
    return lanes;
  }

  HostMemoryBench& bench_;
  uint64_t lanes_ = 0;
};

} // namespace fpga_verbs::bench
