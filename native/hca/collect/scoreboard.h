#pragma once

#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <bit>
#include <cstdint>

// The scoreboard of a command and its mask (US8589610, scoreboard update): pure functions of bits, as in RTL.
namespace fpga_verbs::hca {

inline constexpr uint32_t line_bytes = 64; // what one write transaction can touch
inline constexpr uint32_t dword_bytes = 4;
inline constexpr uint32_t dwords_per_segment = spec::segment_bytes / dword_bytes;
inline constexpr uint32_t dwords_per_line = line_bytes / dword_bytes;
inline constexpr uint32_t segment_dwords = (1u << dwords_per_segment) - 1; // both DWORDs of a segment
inline constexpr uint32_t line_dwords = (1u << dwords_per_line) - 1;       // all DWORDs of a line
inline constexpr uint32_t segments_per_line = line_bytes / spec::segment_bytes;
inline constexpr uint32_t line_segments = (1u << segments_per_line) - 1; // all segments of a line
inline constexpr uint64_t all_segments = (uint64_t{1} << spec::segments) - 1;

// Segments of a command whose payload is `length` bytes long, 0 to 256: the header's and those that the
// payload touches.
constexpr uint32_t segments_needed(uint32_t length) {
  return (spec::CommandHeader::bytes + length + spec::segment_bytes - 1) / spec::segment_bytes;
}

// The bits of the segments that such a command leaves unused.
constexpr uint64_t unused_segments(uint32_t length) {
  return all_segments & ~((uint64_t{1} << segments_needed(length)) - 1);
}

// The DWORDs of a command that have been received: 80 bits, read and set a line of 16 at a time.
class ReceivedDwords {
public:
  // The lowest `dwords`, 1 to 80, and no other.
  static constexpr ReceivedDwords first(uint32_t dwords) {
    ReceivedDwords received;
    received.words_[0] = ~uint64_t{0} >> (dwords < 64 ? 64 - dwords : 0);
    if (dwords > 64)
      received.words_[1] = ~uint64_t{0} >> (128 - dwords);
    return received;
  }

  constexpr uint32_t line(uint32_t index) const {
    return static_cast<uint32_t>(words_[index / lines_per_word] >> shift(index)) & line_dwords;
  }
  constexpr void add(uint32_t index, uint32_t dwords) {
    words_[index / lines_per_word] |= uint64_t{dwords} << shift(index);
  }
  constexpr bool segment_0_whole() const { return (words_[0] & segment_dwords) == segment_dwords; }

  // Whether anything was received at or behind segment `segment`, 8 to 40.
  constexpr bool any_from_segment(uint32_t segment) const {
    const uint32_t dword = segment * dwords_per_segment;
    return dword < 64 ? (words_[0] >> dword | words_[1]) != 0 : words_[1] >> (dword - 64) != 0;
  }

  // Whether every DWORD before segment `segment`, 8 to 40, was received.
  constexpr bool all_before_segment(uint32_t segment) const {
    const uint32_t dword = segment * dwords_per_segment;
    if (dword < 64)
      return (~words_[0] & ((uint64_t{1} << dword) - 1)) == 0;
    return ~words_[0] == 0 && (~words_[1] & ((uint64_t{1} << (dword - 64)) - 1)) == 0;
  }

  constexpr uint64_t low() const { return words_[0]; }
  constexpr uint64_t high() const { return words_[1]; }

private:
  static constexpr uint32_t lines_per_word = 64 / dwords_per_line;
  static constexpr uint32_t shift(uint32_t index) { return index % lines_per_word * dwords_per_line; }

  std::array<uint64_t, 2> words_{};
};

// The DWORDs, 16 bits, of which a write with these byte enables holds all or any bytes: where the two differ,
// a DWORD is partial.
constexpr uint32_t dwords_of(uint64_t nibbles) {
  nibbles = (nibbles | nibbles >> 3) & 0x0303030303030303u;
  nibbles = (nibbles | nibbles >> 6) & 0x000f000f000f000fu;
  nibbles = (nibbles | nibbles >> 12) & 0x000000ff000000ffu;
  return static_cast<uint32_t>(nibbles | nibbles >> 24) & 0xffffu;
}
constexpr uint32_t whole_dwords(uint64_t byte_enables) {
  const uint64_t pairs = byte_enables & byte_enables >> 1;
  return dwords_of(pairs & pairs >> 2 & 0x1111111111111111u);
}
constexpr uint32_t touched_dwords(uint64_t byte_enables) {
  const uint64_t pairs = byte_enables | byte_enables >> 1;
  return dwords_of((pairs | pairs >> 2) & 0x1111111111111111u);
}

// The segments of a line, 8 bits, both of whose DWORDs are set in `dwords`.
constexpr uint32_t whole_segments(uint32_t dwords) {
  uint32_t bits = dwords & dwords >> 1 & 0x5555u;
  bits = (bits | bits >> 1) & 0x3333u;
  bits = (bits | bits >> 2) & 0x0f0fu;
  return (bits | bits >> 4) & 0x00ffu;
}

// The segments of a line, 8 bits, of which `dwords` holds at least one DWORD.
constexpr uint32_t touched_segments(uint32_t dwords) {
  return whole_segments(dwords | (dwords & 0x5555u) << 1 | (dwords & 0xaaaau) >> 1);
}

// Takes one write into scoreboard and mask, 40 bits each. `received`: the segments that it brought and that
// are whole; `unused`: the unused segments if the length came in with it, else 0. Returns the check, all ones
// when the command is complete. In the direct variant (SB 95) the scoreboard holds received segments alone,
// and the mask keeps the unused ones.
constexpr uint64_t update_scoreboard(spec::ScoreboardVariant variant, uint64_t& scoreboard, uint64_t& mask,
                                     uint64_t received, uint64_t unused) {
  if (variant == spec::ScoreboardVariant::direct) {
    scoreboard |= received;
    mask |= unused;
    return scoreboard | mask;
  }
  mask = received | unused;
  scoreboard |= mask;
  return scoreboard;
}

} // namespace fpga_verbs::hca
