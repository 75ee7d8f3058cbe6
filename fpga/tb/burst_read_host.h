#pragma once

#include "burst_host.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fpga_verbs::bench {

// The host's side of AXI4 reads: it answers bursts in any order, interleaves their beats, and answers late.
// The block has the ports of burst_reader.
template <class Rtl> class BurstReadHost {
public:
  static constexpr uint32_t beat_bytes = BEAT_BYTES;

  struct Burst {
    unsigned function = 0;
    uint64_t address = 0;
    uint32_t beats = 0;
    uint32_t beat = 0;
    uint32_t tag = 0;
    uint64_t due = 0;
  };

  BurstReadHost(const Place& place, Random& random, BurstHost& memory, uint32_t most_bytes)
      : place_(place), random_(random), memory_(memory), most_bytes_(most_bytes) {}

  uint32_t latency = 0; // clocks
  bool is_in_order = false;

  uint64_t bursts = 0;
  uint64_t out_of_turn = 0; // beats
  size_t most_under_way = 0;

  // Beats that the host cannot read. A burst fails with any of its beats.
  void spoil_beats(uint32_t count) {
    constexpr uint32_t beats = BurstHost::functions * BurstHost::bytes / beat_bytes;
    for (; count != 0; --count)
      spoilt_[random_.below(beats)] = true;
  }
  bool is_spoilt(unsigned function, uint64_t address) const {
    return spoilt_[(function * BurstHost::bytes + address - BurstHost::base) / beat_bytes];
  }
  bool is_any_spoilt(unsigned function, uint64_t address, uint64_t bytes) const {
    for (uint64_t beat = address / beat_bytes * beat_bytes; beat < address + bytes; beat += beat_bytes)
      if (is_spoilt(function, beat))
        return true;
    return false;
  }

  // The burst whose address is taken in this clock.
  const Burst& take_address(const Rtl& rtl, uint64_t now) {
    const Burst burst{.function = rtl.memory_aruser,
                      .address = rtl.memory_araddr,
                      .beats = rtl.memory_arlen + 1U,
                      .tag = rtl.memory_arid,
                      .due = now + 1 + latency + (is_in_order ? 0 : random_.below(latency + 1))};
    const uint64_t most = burst_bytes(rtl.maximum_read_request, most_bytes_, beat_bytes);
    const uint64_t end = burst.address / beat_bytes * beat_bytes + uint64_t{burst.beats} * beat_bytes;
    expect(place_, "size of a burst's beats", 1U << rtl.memory_arsize, beat_bytes);
    expect(place_, "a burst keeps within its largest size", (end - 1) / most, burst.address / most);
    for (const Burst& other : under_way_)
      expect(place_, "an identifier is one burst's", other.tag == burst.tag, 0);
    under_way_.push_back(burst);
    most_under_way = std::max(most_under_way, under_way_.size());
    ++bursts;
    return under_way_.back();
  }

  // The next beat of any burst that is due.
  void give(Rtl& rtl, uint64_t now) {
    std::vector<size_t> due;
    for (size_t index = 0; index < under_way_.size(); ++index)
      if (under_way_[index].due <= now)
        due.push_back(index);
    if (due.empty())
      return;
    const size_t index = due[is_in_order ? 0 : random_.below(static_cast<uint32_t>(due.size()))];
    out_of_turn += index != 0;
    Burst& burst = under_way_[index];
    const uint64_t aligned = burst.address / beat_bytes * beat_bytes + uint64_t{burst.beat} * beat_bytes;
    const uint64_t begin = std::max(aligned, burst.address);
    std::array<uint8_t, beat_bytes> beat;
    fill(random_, beat);
    const bool is_ok =
        memory_.read(burst.function, begin, beat.data() + (begin - aligned), aligned + beat_bytes - begin) &&
        !is_spoilt(burst.function, aligned);
    std::memcpy(&rtl.memory_rdata, beat.data(), beat_bytes);
    rtl.memory_rresp = is_ok ? 0 : 2 + random_.below(2);
    rtl.memory_rid = burst.tag;
    rtl.memory_rlast = ++burst.beat == burst.beats;
    rtl.memory_rvalid = 1;
    if (rtl.memory_rlast)
      under_way_.erase(under_way_.begin() + static_cast<ptrdiff_t>(index));
  }

private:
  const Place& place_;
  Random& random_;
  BurstHost& memory_;
  uint32_t most_bytes_;
  std::vector<bool> spoilt_ = std::vector<bool>(BurstHost::functions * BurstHost::bytes / beat_bytes);
  std::vector<Burst> under_way_;
};

} // namespace fpga_verbs::bench
