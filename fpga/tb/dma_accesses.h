#pragma once

#include "Vdma.h"
#include "dma_model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// memory_translation as its client sees it: it answers the accesses of one queue pair in order, and those of
// several in any order, with the bursts that the device model's keys and page tables give. It tracks which
// bytes of each access the host has returned, and checks that no access finishes earlier.
class DmaAccesses {
public:
  DmaAccesses(const Place& place, Random& random, DmaModel& model)
      : place_(place), random_(random), model_(model) {}

  // An access of a queue pair every 20 clocks, as in memory_translation at full size; otherwise at random.
  bool is_smooth = false;
  uint32_t ready = 100;  // probability per clock, in percent
  uint32_t latency = 20; // maximum clocks of a burst

  std::optional<uint32_t> held; // this queue pair waits for its keys

  uint64_t accesses = 0;
  uint64_t refused = 0;

  bool is_idle() const { return asked_.empty() && finishing_[0] == 0 && finishing_[1] == 0; }

  void serve(Vdma& rtl, uint64_t now) {
    rtl.request_ready = is_smooth ? waiting_ < 24 : waiting_ < 64 && random_.percent(ready);
    if (rtl.burst)
      return;
    std::vector<uint32_t> due;
    for (auto& [number, asked] : asked_)
      if (asked.front().due <= now && held != number)
        due.push_back(number);
    if (due.empty() || !(is_smooth || random_.percent(ready)))
      return;
    saying_ = due[random_.below(static_cast<uint32_t>(due.size()))];
    const Asked& asked = asked_[saying_].front();
    const Burst& burst = asked.bursts[asked.said];
    rtl.burst = 1;
    rtl.burst_underlying_function = asked.access.underlying_function;
    rtl.burst_user = asked.user;
    rtl.burst_address = burst.bytes == 0 ? random_.bits() : burst.address;
    rtl.burst_bytes = burst.bytes;
    rtl.burst_last = asked.said + 1 == asked.bursts.size();
    rtl.burst_refused = burst.fault != hca::AccessFault::none;
    rtl.burst_epoch = asked.epoch;
  }

  // The requests, bursts, reads and ends of this clock.
  void take(Vdma& rtl, uint64_t now, bool read_address, bool read_last, uint32_t read_tag) {
    if (rtl.request && rtl.request_ready)
      ask(rtl, now);
    is_said_ = rtl.burst && rtl.burst_ready;
    if (is_said_)
      say(now);
    if (read_address)
      begin_read(rtl);
    if (read_last)
      end_read(read_tag);
    if (rtl.finish)
      finish(rtl.finish_epoch);
  }
  // After the clock.
  void end(Vdma& rtl) {
    if (is_said_)
      rtl.burst = 0;
  }

private:
  struct Burst {
    uint64_t address = 0;
    uint32_t bytes = 0;
    hca::AccessFault fault = hca::AccessFault::none;
  };
  struct Asked {
    hca::KeyAccess access;
    bool is_check = false;
    uint32_t user = 0;
    bool epoch = false;
    std::vector<Burst> bursts; // the last one may have no bytes
    size_t said = 0;
    uint64_t due = 0;
  };
  // A piece that is read, in the order of the bursts.
  struct Piece {
    uint64_t id = 0;
    uint64_t address = 0;
    uint64_t bytes_left = 0; // not requested yet
    uint32_t reads = 0;      // in flight
    bool ends_access = false;
    bool epoch = false;
  };

  void ask(const Vdma& rtl, uint64_t now) {
    const bool follows = has_more_ && rtl.request_user >> 2 == packet_;
    if (follows && rtl.request_is_check == 0)
      expect(place_, "an access of no bytes behind others of its packet", rtl.request_length == 0, false);
    has_more_ = (rtl.request_user & 1) == 0;
    packet_ = rtl.request_user >> 2;
    Asked asked{.access = {.underlying_function = rtl.request_underlying_function,
                           .protection_domain = rtl.request_protection_domain,
                           .key = rtl.request_key,
                           .address = rtl.request_address,
                           .length = rtl.request_length,
                           .rights = rtl.request_rights,
                           .queue_pair_number = rtl.request_queue_pair},
                .is_check = rtl.request_is_check != 0,
                .user = rtl.request_user,
                .epoch = random_.once(2)};
    find_bursts(asked);
    const uint32_t number = rtl.request_queue_pair;
    asked.due = due_after(std::max(now, free_at_[number]));
    free_at_[number] = asked.due;
    asked_[number].push_back(asked);
    ++waiting_;
    ++accesses;
  }
  uint64_t due_after(uint64_t now) { return now + (is_smooth ? 20 : 1 + random_.below(latency)); }

  void find_bursts(Asked& asked) {
    const hca::KeyAccess& access = asked.access;
    hca::MemoryTranslation& translation = model_.translation();
    const hca::AccessFault fault = translation.check(access);
    if (fault != hca::AccessFault::none || asked.is_check || access.length == 0) {
      refused += fault != hca::AccessFault::none;
      asked.bursts.push_back({.fault = fault});
      return;
    }
    for (uint64_t done = 0; done < access.length;) {
      const std::optional<hca::MemoryPiece> piece =
          translation.locate(access.underlying_function, access.key, access.address + done);
      if (!piece) {
        asked.bursts.push_back({.fault = hca::AccessFault::unreachable});
        return;
      }
      const uint64_t bytes = std::min(piece->bytes, access.length - done);
      asked.bursts.push_back({.address = piece->address, .bytes = static_cast<uint32_t>(bytes)});
      done += bytes;
    }
  }

  void say(uint64_t now) {
    std::deque<Asked>& all = asked_[saying_];
    Asked& asked = all.front();
    const Burst& burst = asked.bursts[asked.said++];
    const bool is_last = asked.said == asked.bursts.size();
    if (burst.bytes != 0)
      pieces_.push_back({.id = next_piece_++,
                         .address = burst.address,
                         .bytes_left = burst.bytes,
                         .ends_access = is_last,
                         .epoch = asked.epoch});
    if (!is_last) {
      asked.due = due_after(now);
      return;
    }
    ++finishing_[asked.epoch];
    --waiting_;
    all.pop_front();
    if (all.empty())
      asked_.erase(saying_);
  }

  void begin_read(const Vdma& rtl) {
    const auto piece = std::ranges::find_if(pieces_, [](const Piece& each) { return each.bytes_left != 0; });
    if (piece == pieces_.end())
      differ(place_, "address that is read", rtl.memory_araddr, 0);
    expect(place_, "address that is read", rtl.memory_araddr, piece->address);
    const uint64_t end = (piece->address / BEAT_BYTES + rtl.memory_arlen + 1) * BEAT_BYTES;
    const uint64_t bytes = std::min(end - piece->address, piece->bytes_left);
    piece->address += bytes;
    piece->bytes_left -= bytes;
    ++piece->reads;
    piece_of_tag_[rtl.memory_arid] = piece->id;
  }
  void end_read(uint32_t tag) {
    const auto piece = std::ranges::find(pieces_, piece_of_tag_.at(tag), &Piece::id);
    if (--piece->reads == 0 && piece->bytes_left == 0)
      pieces_.erase(piece);
  }
  void finish(bool epoch) {
    // An access has not finished before the host has given all its data.
    uint64_t waiting = 0;
    for (const Piece& piece : pieces_)
      waiting += piece.ends_access && piece.epoch == epoch;
    if (finishing_[epoch] <= waiting)
      differ(place_, "accesses that finish before their data are there", finishing_[epoch], waiting);
    --finishing_[epoch];
  }

  const Place& place_;
  Random& random_;
  DmaModel& model_;
  std::map<uint32_t, std::deque<Asked>> asked_; // by queue pair
  std::map<uint32_t, uint64_t> free_at_;
  uint32_t packet_ = 0;   // of the newest access,
  bool has_more_ = false; // which is not its last one
  uint32_t waiting_ = 0;
  uint32_t saying_ = 0;
  bool is_said_ = false;
  std::deque<Piece> pieces_;
  uint64_t next_piece_ = 0;
  std::map<uint32_t, uint64_t> piece_of_tag_;
  std::array<uint64_t, 2> finishing_{}; // by epoch: accesses whose last burst has been returned
};

} // namespace fpga_verbs::bench
