#pragma once

#include "collect_buffer_commands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {

// Writes of the host to VCBs, and to management pages behind them: commands from a seed, split, reordered,
// repeated and corrupted, as bursts.
class HostWrites {
public:
  HostWrites(Random& random, const hca::CollectBuffer& model) : random_(random), model_(model) {}

  std::deque<Burst>& bursts() { return bursts_; }

  uint32_t owner_of(uint32_t page) const {
    if (page >= vcbs)
      return page - vcbs;
    for (uint32_t function = 0; function < functions; ++function) {
      const hca::VirtualCollectBufferBar& bar = model_.bar(function);
      if (page >= bar.base && page < bar.base + bar.count)
        return function;
    }
    return 0;
  }

  void choose() {
    if (random_.once(6)) {
      const uint32_t page = vcbs + random_.below(functions);
      if (random_.once(30))
        write_piece(page, 320 + random_.below(900) * 4, std::array<uint8_t, 4>{1, 2, 3, 4}.data(), 4, 0);
      else
        write_command(page);
      return;
    }
    const uint32_t page = random_.below(vcbs);
    const std::array<uint8_t, 8> nothing{};
    const bool in_error = model_.inspect(page).state == spec::VirtualCollectBufferState::error;
    if (in_error && !random_.once(6))
      write_piece(page, spec::doorbell_slots_offset + 16, nothing.data(), 8, 0);
    else if (random_.once(8))
      write_slots(page);
    else if (random_.once(60))
      write_piece(page, 320 + random_.below(900) * 4, std::array<uint8_t, 4>{1, 2, 3, 4}.data(), 4, 0);
    else
      write_command(page);
  }

private:
  uint8_t user_of(uint32_t page) {
    const uint32_t owner = owner_of(page);
    const bool foreign = page < vcbs && random_.once(20);
    constexpr uint32_t known = functions > 1 ? 1U << std::bit_width(functions - 1) : 2;
    if (random_.once(2))
      return static_cast<uint8_t>(random_.below(functions));
    return static_cast<uint8_t>(known | (foreign ? random_.below(functions) : owner));
  }

  // A piece of the page, as beats of one burst.
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

  // One command as pieces of 4 to 64 B in random order; some pieces are repeated, sometimes with other data.
  void write_command(uint32_t page) {
    uint32_t length = 0;
    const auto bytes = page < vcbs ? make_command(random_, owner_of(page), length)
                                   : make_management_command(random_, length);
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
    if (random_.once(20))
      pieces.pop_back(); // half-written
    const size_t spoiled = random_.once(3) ? random_.below(static_cast<uint32_t>(pieces.size()) + 1) : ~0ULL;
    for (size_t place = 0; place < pieces.size(); ++place) {
      const auto& [at, size] = pieces[place];
      if (place == spoiled)
        write_spoiled(page, pieces[random_.below(static_cast<uint32_t>(pieces.size()))]);
      write_piece(page, at, bytes.data() + at, size, random_.once(30) ? random_.bits() : 0);
    }
  }

  // A piece of the command with data of another one, except segment 0, which identifies the command.
  void write_spoiled(uint32_t page, std::pair<uint32_t, uint32_t> piece) {
    const uint32_t at = std::max(piece.first, spec::segment_bytes);
    const uint32_t end = piece.first + piece.second;
    std::array<uint8_t, spec::command_bytes> other{};
    for (uint8_t& byte : other)
      byte = static_cast<uint8_t>(random_.bits());
    if (at < end)
      write_piece(page, at, other.data(), end - at, 0);
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
    if (random_.once(3)) { // a slot in two halves, sometimes with a cancel between them
      const uint32_t slot = spec::doorbell_slots_offset + random_.below(2) * 8;
      const uint8_t* const data = bytes.data() + (slot - spec::doorbell_slots_offset);
      const uint32_t half = random_.below(2) * 4;
      write_piece(page, slot + half, data + half, 4, 0);
      if (random_.once(3))
        write_piece(page, spec::doorbell_slots_offset + 16, bytes.data() + 16, 8, 0);
      write_piece(page, slot + 4 - half, data + 4 - half, 4, 0);
      return;
    }
    const uint32_t first = random_.below(6) * 4;
    const uint32_t size = random_.once(3) ? 4 : 8U << random_.below(3);
    const uint32_t allowed = random_.once(10) ? 32 : 24;
    write_piece(page, spec::doorbell_slots_offset + first, bytes.data() + first,
                std::min(size, allowed - first), 0);
  }

  Random& random_;
  const hca::CollectBuffer& model_;
  std::deque<Burst> bursts_;
};

} // namespace fpga_verbs::bench
