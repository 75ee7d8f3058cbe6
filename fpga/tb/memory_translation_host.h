#pragma once

#include "Vmemory_translation.h"
#include "memory_translation_model.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace fpga_verbs::bench {

// Host memory that answers reads of 64 B after random times, in any order, each whole, beat by beat. An
// answer has the data of a random clock between request and answer. Some reads fail and return random data.
class TranslationHost {
public:
  static constexpr uint32_t bytes = 64;

  // The speed of the host.
  struct Pace {
    uint32_t ready = 100;  // probability per clock, in percent
    uint32_t latency = 1;  // in clocks; the maximum, unless is_smooth
    uint32_t failing = 0;  // probability of a failed read, per mille
    bool is_smooth = true; // each answer takes the same time, in order
  };

  TranslationHost(const Place& place, Random& random, ContextHost& memory)
      : place_(place), random_(random), memory_(memory) {}

  Pace pace;

  void serve(Vmemory_translation& rtl, uint64_t now) {
    rtl.read_ready = random_.percent(pace.ready);
    if (beats_left_ == 0)
      choose(now);
    rtl.data_valid = beats_left_ != 0 && (offered_ || random_.percent(pace.ready));
    offered_ = rtl.data_valid;
    if (!rtl.data_valid)
      return;
    std::memcpy(&rtl.data, &answer_.data[bytes - beats_left_ * BEAT_BYTES], BEAT_BYTES);
    rtl.data_user = answer_.user;
    rtl.data_last = beats_left_ == 1;
    // Only valid with the last beat.
    rtl.data_failed = rtl.data_last ? answer_.failed : random_.once(2);
  }

  void take(const Vmemory_translation& rtl, uint64_t now) {
    if (rtl.read && rtl.read_ready) {
      if (rtl.read_address % bytes != 0 || rtl.read_address < TranslationModel::tables_address() ||
          rtl.read_address >= TranslationModel::keys_address() + uint64_t{KEYS} * spec::MemoryKeyEntry::bytes)
        differ(place_, "address that is read", rtl.read_address, 0);
      Read read{.address = rtl.read_address,
                .user = rtl.read_user,
                .due = now + (pace.is_smooth ? pace.latency : 1 + random_.below(pace.latency)),
                .failed = random_.below(1000) < pace.failing,
                .is_early = random_.once(2)};
      fetch(read);
      reads_.push_back(read);
      ++reads;
    }
    if (rtl.data_valid && rtl.data_ready) {
      offered_ = false;
      if (--beats_left_ == 0 && answer_.failed)
        failed_[answer_.address] = now;
    }
  }

  // Whether a read of a page table, or of this address, has failed since this clock.
  bool has_failed(uint64_t key_address, uint64_t since) const {
    for (const auto& [address, at] : failed_)
      if (at >= since && (address < TranslationModel::keys_address() || address == key_address))
        return true;
    return false;
  }

  uint64_t reads = 0;

private:
  struct Read {
    uint64_t address = 0;
    uint32_t user = 0;
    uint64_t due = 0;
    bool failed = false;
    bool is_early = false; // has the data of the clock of its request
    std::array<uint8_t, bytes> data{};
  };

  void fetch(Read& read) {
    memory_.read(0, read.address, read.data.data(), bytes);
    if (read.failed)
      for (uint8_t& byte : read.data)
        byte ^= random_.below(256);
  }
  void choose(uint64_t now) {
    std::vector<size_t> due;
    for (size_t at = 0; at < reads_.size(); ++at)
      if (reads_[at].due <= now)
        due.push_back(at);
    if (due.empty())
      return;
    const size_t at = due[pace.is_smooth ? 0 : random_.below(static_cast<uint32_t>(due.size()))];
    answer_ = reads_[at];
    reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(at));
    if (!answer_.is_early)
      fetch(answer_);
    beats_left_ = bytes / BEAT_BYTES;
  }

  const Place& place_;
  Random& random_;
  ContextHost& memory_;
  std::vector<Read> reads_;
  std::map<uint64_t, uint64_t> failed_; // clock of the last failure, by address
  Read answer_;
  uint32_t beats_left_ = 0;
  bool offered_ = false;
};

} // namespace fpga_verbs::bench
