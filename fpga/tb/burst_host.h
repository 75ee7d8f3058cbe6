#pragma once

#include "beats.h"

#include "board/board_host.h"
#include "hca/base/clock.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fpga_verbs::bench {

// The host of the device model's board: some pages of memory for each of two functions, behind its IOMMU.
// Some pages are read-only, write-only or unmapped. The addresses carry through many bits between two pages.
class BurstHost {
public:
  static constexpr unsigned functions = 2;
  static constexpr uint64_t page_bytes = board::IommuDomain::page_bytes;
  static constexpr uint64_t pages = 16;
  static constexpr uint64_t bytes = pages * page_bytes;
  static constexpr uint64_t base = 0xff'ffff'8000;

  // The same seed gives the same memory.
  explicit BurstHost(uint64_t seed)
      : faults_(seed), host_(functions, board::ReadLatency{}, seed, faults_, counters_, clock_),
        memory_(board::DmaMemory::allocate(functions * bytes)) {
    Random random(seed);
    fill(random, all());
    for (unsigned function = 0; function < functions; ++function)
      for (uint64_t page = 0; page < pages; ++page) {
        constexpr std::array rights{board::DmaRights::none, board::DmaRights::read, board::DmaRights::write};
        const board::DmaRights right =
            random.once(4) ? rights[random.below(rights.size())] : board::DmaRights::read_write;
        if (right != board::DmaRights::none)
          host_.domain(function).map_at(base + page * page_bytes,
                                        &all()[function * bytes + page * page_bytes], page_bytes, right);
      }
  }

  std::span<uint8_t> all() { return {static_cast<uint8_t*>(memory_.data()), functions * bytes}; }

  hca::HostPort& port() { return host_; }
  bool read(unsigned function, uint64_t address, void* destination, size_t length) {
    return host_.read(function, address, destination, length) == hca::DmaStatus::ok;
  }
  bool write(unsigned function, uint64_t address, const void* source, size_t length) {
    return host_.write(function, address, source, length) == hca::DmaStatus::ok;
  }
  // Writes page by page, as far as pages permit it.
  bool write_pages(unsigned function, uint64_t address, const uint8_t* source, size_t length) {
    bool is_whole = true;
    while (length != 0) {
      const size_t part = std::min<uint64_t>(length, page_bytes - address % page_bytes);
      is_whole = write(function, address, source, part) && is_whole;
      address += part;
      source += part;
      length -= part;
    }
    return is_whole;
  }

private:
  class StillClock final : public hca::Clock {
  public:
    uint64_t now() const override { return 0; }
  };

  StillClock clock_;
  board::BoardCounters counters_;
  board::FaultRules faults_;
  board::BoardHost host_;
  board::DmaMemory memory_;
};

// A piece of host memory, and the offset of its first byte in a beat on the device's side.
struct Piece {
  unsigned function = 0;
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t lane = 0;
  uint32_t user = 0;
};

inline Piece some_piece(Random& random, uint32_t beat_bytes, uint32_t user) {
  Piece piece{.function = random.below(BurstHost::functions), .user = user & 0xffff};
  piece.bytes = 1 + random.below(random.once(4) ? 4096 : 3 * beat_bytes);
  piece.address = BurstHost::base + random.below(static_cast<uint32_t>(BurstHost::bytes) - piece.bytes);
  if (random.once(4)) // begins or ends at a page boundary, or a byte beside it
    piece.address =
        std::clamp<uint64_t>((piece.address & ~uint64_t{4095}) +
                                 (random.once(2) ? 4096 : 4096 - piece.bytes) + random.below(3) - 1,
                             BurstHost::base, BurstHost::base + BurstHost::bytes - piece.bytes);
  piece.lane = random.once(3) ? static_cast<uint32_t>(piece.address % beat_bytes) : random.below(beat_bytes);
  return piece;
}

// Size of a burst, as in PCIe.
inline uint64_t burst_bytes(uint32_t size, uint64_t most, uint64_t beat_bytes) {
  return std::min({uint64_t{128} << size, most, 256 * beat_bytes});
}

} // namespace fpga_verbs::bench
