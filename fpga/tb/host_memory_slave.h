#pragma once

#include "bench.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <vector>

namespace fpga_verbs::bench {

// Memory of a host; some pages may be out of the device's reach.
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

  // Of bytes within one page. Bytes that were never written read as zero.
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

// The host's side of the ports memory_*: it accepts and returns beats at random, or after a fixed latency,
// and checks that the device keeps the rules of AXI4 and of host_port. Accesses out of reach get an error and
// change nothing.
template <class Rtl> class HostMemorySlave {
public:
  HostMemorySlave(Rtl& rtl, HostMemory& memory, Random& random, Place& place)
      : rtl_(rtl), memory_(memory), random_(random), place_(place) {}

  uint64_t bursts() const { return bursts_; }
  // Maximum number of accesses that were in flight at a time.
  size_t most_outstanding() const { return most_outstanding_; }

  // Probability, in percent, that a channel continues in a clock.
  void set_speed(uint32_t percent) { speed_ = percent; }
  // Minimum clocks from the end of a request to its answer.
  void set_latency(uint32_t clocks) { latency_ = clocks; }

  // Before the rising edge: drives the host's signals of this clock.
  void drive() {
    ++clock_;
    rtl_.memory_awready = random_.percent(speed_);
    rtl_.memory_wready = random_.percent(speed_);
    rtl_.memory_arready = random_.percent(speed_);
    rtl_.memory_bvalid =
        rtl_.memory_bvalid || (!writes_.empty() && is_due(writes_.front().due) && random_.percent(speed_));
    if (rtl_.memory_bvalid)
      rtl_.memory_bresp = memory_.is_reachable(writes_.front().address) ? 0 : writes_.front().error;
    if (!rtl_.memory_rvalid && !reads_.empty() && is_due(reads_.front().due) && random_.percent(speed_))
      give();
  }

  // After evaluation, before the edge: exchanges signals. Calls `seen` with each write.
  template <class Seen> void take(Seen seen) {
    check_steady();
    if (rtl_.memory_awvalid && rtl_.memory_awready)
      take_address();
    if (rtl_.memory_wvalid && rtl_.memory_wready)
      take_beat();
    // The data may precede their address.
    for (Write& write : writes_)
      if (write.due == 0 && !bursts_of_data_.empty()) {
        write.data = bursts_of_data_.front();
        bursts_of_data_.pop_front();
        write.due = clock_ + 1 + latency_;
      }
    responds_ = rtl_.memory_bvalid && rtl_.memory_bready;
    if (responds_) {
      finish(writes_.front(), seen);
      writes_.pop_front();
    }
    if (rtl_.memory_arvalid && rtl_.memory_arready) {
      expect(place_, "one word is read", rtl_.memory_arlen, 0);
      expect(place_, "size of a word", rtl_.memory_arsize, 3);
      expect(place_, "alignment of a word", rtl_.memory_araddr % 8, 0);
      reads_.push_back({.address = rtl_.memory_araddr, .error = any_error(), .due = clock_ + 1 + latency_});
      ++bursts_;
    }
    gives_ = rtl_.memory_rvalid && rtl_.memory_rready;
    if (gives_)
      reads_.pop_front();
    most_outstanding_ = std::max(most_outstanding_, writes_.size() + reads_.size());
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
  struct Data {
    std::vector<uint8_t> bytes;
    std::vector<uint64_t> strobes; // of each beat
  };
  struct Read {
    uint64_t address = 0;
    uint8_t error = 2;
    uint64_t due = 0; // the clock from which it can be answered
  };
  struct Write {
    uint64_t address = 0;
    uint32_t beats = 0;
    uint32_t bytes = 0;
    uint8_t error = 2;
    uint64_t due = 0; // 0: its data are incomplete
    Data data;
  };

  bool is_due(uint64_t due) const { return due != 0 && clock_ >= due; }

  // An offer stays until it is accepted.
  void check_steady() {
    const uint64_t now = rtl_.memory_awvalid ? rtl_.memory_awaddr + 1 : 0;
    if (offered_ != 0)
      expect(place_, "an address that is offered stays", now, offered_);
    offered_ = rtl_.memory_awready ? 0 : now;
  }

  void take_address() {
    Write write{.address = rtl_.memory_awaddr, .beats = rtl_.memory_awlen + 1u, .error = any_error()};
    write.bytes = write.beats << rtl_.memory_awsize;
    expect(place_, "a line or a word", write.bytes == 64 || write.bytes == 8, 1);
    expect(place_, "alignment of a write", write.address % write.bytes, 0);
    expect(place_, "a burst keeps within 4 KiB", write.address / HostMemory::page_bytes,
           (write.address + write.bytes - 1) / HostMemory::page_bytes);
    writes_.push_back(write);
    ++bursts_;
  }

  void take_beat() {
    std::vector<uint8_t>& bytes = beats_.bytes;
    bytes.insert(bytes.end(), BEAT_BYTES, 0);
    std::memcpy(bytes.data() + bytes.size() - BEAT_BYTES, &rtl_.memory_wdata, BEAT_BYTES);
    beats_.strobes.push_back(rtl_.memory_wstrb);
    if (!rtl_.memory_wlast)
      return;
    bursts_of_data_.push_back(beats_);
    beats_ = {};
  }

  template <class Seen> void finish(const Write& write, Seen seen) {
    expect(place_, "beats of a burst", write.data.strobes.size(), write.beats);
    const uint32_t lane = write.bytes == 8 ? write.address % BEAT_BYTES : 0;
    const uint32_t width = write.bytes == 8 ? 8 : BEAT_BYTES;
    const uint64_t strobes = (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1) << lane;
    for (const uint64_t strobe : write.data.strobes)
      expect(place_, "strobes", strobe, strobes);
    if (memory_.is_reachable(write.address)) {
      memory_.write(write.address, write.data.bytes.data() + lane, write.bytes);
      seen(write.address, write.bytes);
    }
  }

  void give() {
    const Read& read = reads_.front();
    std::vector<uint8_t> beat(BEAT_BYTES);
    for (uint8_t& byte : beat)
      byte = static_cast<uint8_t>(random_.bits());
    const bool is_reachable = memory_.is_reachable(read.address);
    if (is_reachable)
      memory_.read(read.address, beat.data() + read.address % BEAT_BYTES, 8);
    std::memcpy(&rtl_.memory_rdata, beat.data(), BEAT_BYTES);
    rtl_.memory_rresp = is_reachable ? 0 : read.error;
    rtl_.memory_rlast = 1;
    rtl_.memory_rvalid = 1;
  }

  // SLVERR or DECERR.
  uint8_t any_error() { return random_.once(2) ? 2 : 3; }

  Rtl& rtl_;
  HostMemory& memory_;
  Random& random_;
  Place& place_;
  uint32_t speed_ = 60;
  uint32_t latency_ = 0;
  uint64_t clock_ = 0;
  bool responds_ = false;
  bool gives_ = false;
  uint64_t offered_ = 0; // The offered address plus 1; 0: none.
  std::deque<Write> writes_;
  std::deque<Read> reads_;
  std::deque<Data> bursts_of_data_; // whose address has not arrived yet
  Data beats_;                      // of the incomplete burst
  uint64_t bursts_ = 0;
  size_t most_outstanding_ = 0;
};

} // namespace fpga_verbs::bench
