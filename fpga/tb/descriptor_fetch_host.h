#pragma once

#include "Vdescriptor_fetch.h"
#include "receive_queue_rings.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// Page tables and host memory behind descriptor_fetch. Both answer in any order, after random times.
class DescriptorHost {
public:
  struct Pace {
    uint32_t ready = 100;  // probability per clock, in percent
    uint32_t latency = 1;  // maximum latency of an answer, in clocks
    bool is_smooth = true; // each answer takes this time and succeeds
  };
  DescriptorHost(const Place& place, Random& random, DescriptorSurroundings& surroundings,
                 const ReceiveHostMemory& memory)
      : place_(place), random_(random), surroundings_(surroundings), memory_(memory) {}

  Pace pace;
  uint64_t reads = 0;
  uint64_t failures = 0;
  uint64_t overtaken = 0; // reads whose answer came before an older one's

  // Drives the answers of this clock.
  void serve(Vdescriptor_fetch& rtl) {
    rtl.translate_ready = random_.percent(pace.ready);
    rtl.read_ready = random_.percent(pace.ready);
    if (!rtl.translated) {
      if (const auto at = next(pages_)) {
        rtl.translated = 1;
        rtl.translated_user = pages_[*at].user;
        rtl.translated_done = pages_[*at].address.has_value();
        rtl.translated_page = pages_[*at].address.value_or(random_.bits()) / spec::page_bytes;
        pages_.erase(pages_.begin() + static_cast<std::ptrdiff_t>(*at));
      }
    }
    rtl.data_valid = 0;
    if (!current_) {
      const auto at = next(pieces_);
      if (!at)
        return;
      overtaken += *at != 0;
      current_ = pieces_[*at];
      pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(*at));
      fill(*current_);
      sent_ = 0;
    } else if (!random_.percent(pace.ready))
      return;
    send(rtl);
  }
  // Accepts the RTL's requests of this clock.
  void take(const Vdescriptor_fetch& rtl) {
    if (rtl.translate && rtl.translate_ready)
      pages_.push_back({.user = rtl.translate_user,
                        .address = surroundings_.translation.translate(
                            rtl.translate_page_table, uint64_t{rtl.translate_page} * spec::page_bytes),
                        .due = due()});
    if (!rtl.read || !rtl.read_ready)
      return;
    ++reads;
    Piece piece{.user = rtl.read_user, .lane = rtl.read_lane, .due = due()};
    piece.read = {
        .function = rtl.read_underlying_function, .address = rtl.read_address, .bytes = rtl.read_bytes};
    if (!memory_.is_mapped(piece.read.function, piece.read.address, piece.read.bytes))
      differ(place_, "address outside of the function's queues", piece.read.address, 0);
    if (piece.lane + std::min<uint32_t>(piece.read.bytes, 8) > BEAT_BYTES)
      differ(place_, "lane of a read", piece.lane, 0);
    pieces_.push_back(piece);
  }
  // A read whose last beat RTL has got.
  std::optional<std::pair<uint32_t, DescriptorRead>> take_finished() {
    return std::exchange(finished_, std::nullopt);
  }
  bool is_idle() const { return pages_.empty() && pieces_.empty() && !current_; }

private:
  struct Page {
    uint32_t user = 0;
    std::optional<uint64_t> address;
    uint64_t due = 0;
  };
  struct Piece {
    uint32_t user = 0;
    uint32_t lane = 0;
    DescriptorRead read;
    uint64_t due = 0;
  };
  uint64_t due() { return place_.clock + (pace.is_smooth ? pace.latency : 1 + random_.below(pace.latency)); }
  template <class Waiting> std::optional<size_t> next(const std::vector<Waiting>& waiting) {
    if (!random_.percent(pace.ready))
      return std::nullopt;
    for (size_t at = 0; at < waiting.size(); ++at)
      if (waiting[at].due <= place_.clock)
        return at;
    return std::nullopt;
  }
  void fill(Piece& piece) {
    DescriptorRead& read = piece.read;
    read.failed =
        !memory_.can_read(read.function, read.address, read.bytes) || (!pace.is_smooth && random_.once(400));
    memory_.read(read.address, read.data.data(), read.bytes);
    failures += read.failed;
  }
  void send(Vdescriptor_fetch& rtl) {
    const Piece& piece = *current_;
    uint8_t beat[BEAT_BYTES];
    for (uint8_t& byte : beat)
      byte = static_cast<uint8_t>(random_.bits());
    const uint32_t begin = sent_ == 0 ? piece.lane : 0;
    const uint32_t count = std::min(piece.read.bytes - sent_, BEAT_BYTES - begin);
    if (!piece.read.failed)
      std::memcpy(beat + begin, piece.read.data.data() + sent_, count);
    sent_ += count;
    std::memcpy(&rtl.data, beat, BEAT_BYTES);
    rtl.data_valid = 1;
    rtl.data_user = piece.user;
    rtl.data_last = sent_ == piece.read.bytes;
    rtl.data_failed = rtl.data_last ? piece.read.failed : random_.once(2);
    if (!rtl.data_last)
      return;
    finished_ = {piece.user, piece.read};
    current_.reset();
  }

  const Place& place_;
  Random& random_;
  DescriptorSurroundings& surroundings_;
  const ReceiveHostMemory& memory_;
  std::vector<Page> pages_;
  std::vector<Piece> pieces_;
  std::optional<Piece> current_;
  uint32_t sent_ = 0;
  std::optional<std::pair<uint32_t, DescriptorRead>> finished_;
};

} // namespace fpga_verbs::bench
