#pragma once

#include "bench.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace fpga_verbs::bench {

// Memory of a host, of which some pages can be out of the device's reach.
class HostMemory {
public:
  static constexpr uint64_t page_bytes = 4096;

  void set_reachable(uint64_t address, bool is_reachable) {
    if (is_reachable)
      unreachable_.erase(address / page_bytes);
    else
      unreachable_.insert(address / page_bytes);
  }
  bool is_reachable(uint64_t address) const { return !unreachable_.contains(address / page_bytes); }

  // Of bytes that lie in one page. What was never written reads as zero.
  void write(uint64_t address, const void* source, size_t bytes) {
    std::memcpy(page(address) + address % page_bytes, source, bytes);
  }
  void read(uint64_t address, void* destination, size_t bytes) {
    std::memcpy(destination, page(address) + address % page_bytes, bytes);
  }

private:
  uint8_t* page(uint64_t address) {
    std::vector<uint8_t>& bytes = pages_[address / page_bytes];
    bytes.resize(page_bytes);
    return bytes.data();
  }

  std::map<uint64_t, std::vector<uint8_t>> pages_;
  std::set<uint64_t> unreachable_;
};

// The host's side of ports memory_*: takes and gives beats when chance has it so, and holds the device to
// AXI4 and to what host_port promises. What cannot be reached is answered with an error, and changes nothing.
template <class Rtl> class HostMemorySlave {
public:
  HostMemorySlave(Rtl& rtl, HostMemory& memory, Random& random, Place& place)
      : rtl_(rtl), memory_(memory), random_(random), place_(place) {}

  uint64_t bursts() const { return bursts_; }

  // Percent of the clocks in which something that could go on goes on.
  void set_speed(uint32_t percent) { speed_ = percent; }

  // Before the rising edge: what the host drives in this clock.
  void drive() {
    rtl_.memory_awready = random_.percent(speed_);
    rtl_.memory_wready = random_.percent(speed_);
    rtl_.memory_arready = random_.percent(speed_);
    rtl_.memory_bvalid = rtl_.memory_bvalid || (has_address_ && has_data_ && random_.percent(speed_));
    rtl_.memory_bresp = memory_.is_reachable(address_) ? 0 : error_;
    if (!rtl_.memory_rvalid && has_read_ && random_.percent(speed_))
      give();
  }

  // After evaluation, before the edge: what is handed over at it. The one that is called may look at a burst.
  template <class Seen> void take(Seen seen) {
    check_steady();
    if (rtl_.memory_awvalid && rtl_.memory_awready)
      take_address();
    if (rtl_.memory_wvalid && rtl_.memory_wready)
      take_beat();
    responds_ = rtl_.memory_bvalid && rtl_.memory_bready;
    if (responds_) {
      finish(seen);
      has_address_ = has_data_ = false;
    }
    if (rtl_.memory_arvalid && rtl_.memory_arready) {
      expect(place_, "one word is read", rtl_.memory_arlen, 0);
      expect(place_, "size of a word", rtl_.memory_arsize, 3);
      expect(place_, "alignment of a word", rtl_.memory_araddr % 8, 0);
      read_address_ = rtl_.memory_araddr;
      has_read_ = true;
      choose_error();
      ++bursts_;
    }
    gives_ = rtl_.memory_rvalid && rtl_.memory_rready;
    has_read_ = has_read_ && !gives_;
  }

  // After the edge.
  void settle() {
    if (responds_)
      rtl_.memory_bvalid = 0;
    if (gives_)
      rtl_.memory_rvalid = 0;
    responds_ = gives_ = false;
  }

  bool is_quiet() const {
    return !rtl_.memory_awvalid && !rtl_.memory_wvalid && !rtl_.memory_bready && !rtl_.memory_arvalid &&
           !rtl_.memory_rready;
  }

private:
  // What is offered stays until it is taken.
  void check_steady() {
    const uint64_t now = rtl_.memory_awvalid ? rtl_.memory_awaddr + 1 : 0;
    if (offered_ != 0)
      expect(place_, "an address that is offered stays", now, offered_);
    offered_ = rtl_.memory_awready ? 0 : now;
  }

  void take_address() {
    expect(place_, "one write at a time", has_address_, 0);
    has_address_ = true;
    address_ = rtl_.memory_awaddr;
    beats_ = rtl_.memory_awlen + 1u;
    bytes_ = beats_ << rtl_.memory_awsize;
    expect(place_, "a line or a word", bytes_ == 64 || bytes_ == 8, 1);
    expect(place_, "alignment of a write", address_ % bytes_, 0);
    expect(place_, "a burst keeps within 4 KiB", address_ / HostMemory::page_bytes,
           (address_ + bytes_ - 1) / HostMemory::page_bytes);
    choose_error();
    ++bursts_;
  }

  // The data may be there before their address.
  void take_beat() {
    expect(place_, "data of one write at a time", has_data_, 0);
    data_.insert(data_.end(), BEAT_BYTES, 0);
    std::memcpy(data_.data() + data_.size() - BEAT_BYTES, &rtl_.memory_wdata, BEAT_BYTES);
    strobes_.push_back(rtl_.memory_wstrb);
    has_data_ = rtl_.memory_wlast;
  }

  template <class Seen> void finish(Seen seen) {
    expect(place_, "beats of a burst", strobes_.size(), beats_);
    const uint32_t lane = bytes_ == 8 ? address_ % BEAT_BYTES : 0;
    const uint32_t width = bytes_ == 8 ? 8 : BEAT_BYTES;
    const uint64_t strobes = (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1) << lane;
    for (const uint64_t strobe : strobes_)
      expect(place_, "strobes", strobe, strobes);
    if (memory_.is_reachable(address_)) {
      memory_.write(address_, data_.data() + lane, bytes_);
      seen(address_, bytes_);
    }
    data_.clear();
    strobes_.clear();
  }

  void give() {
    std::vector<uint8_t> beat(BEAT_BYTES);
    for (uint8_t& byte : beat)
      byte = static_cast<uint8_t>(random_.bits());
    const bool is_reachable = memory_.is_reachable(read_address_);
    if (is_reachable)
      memory_.read(read_address_, beat.data() + read_address_ % BEAT_BYTES, 8);
    std::memcpy(&rtl_.memory_rdata, beat.data(), BEAT_BYTES);
    rtl_.memory_rresp = is_reachable ? 0 : error_;
    rtl_.memory_rlast = 1;
    rtl_.memory_rvalid = 1;
  }

  // SLVERR or DECERR.
  void choose_error() { error_ = random_.once(2) ? 2 : 3; }

  Rtl& rtl_;
  HostMemory& memory_;
  Random& random_;
  Place& place_;
  uint32_t speed_ = 60;
  bool has_address_ = false;
  bool has_data_ = false;
  bool has_read_ = false;
  bool responds_ = false;
  bool gives_ = false;
  uint64_t address_ = 0;
  uint64_t read_address_ = 0;
  uint64_t offered_ = 0; // The address that waits, and one.
  uint32_t beats_ = 0;
  uint32_t bytes_ = 0;
  uint8_t error_ = 2;
  uint64_t bursts_ = 0;
  std::vector<uint8_t> data_;
  std::vector<uint64_t> strobes_;
};

} // namespace fpga_verbs::bench
