#pragma once

#include "board/host_platform.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fpga_verbs::board {

enum class MessageKind : uint8_t {
  write,         // contiguous whole DWORDs
  partial_write, // one transaction with byte enables
  read,          // one DWORD
};

inline constexpr size_t message_bytes = 320; // longest contiguous write: a command

// A cache line of a message on its way to the device. Each line carries a sequence number, stored last: a
// reader that sees it sees the whole line. The first line of a message has the header and room for 48 B, the
// following ones for 56 B.
template <class Platform> struct alignas(64) BasicTransactionLine {
  static constexpr size_t first_bytes = 48;
  static constexpr size_t next_bytes = 56;
  static constexpr size_t where_bytes = 8;

  typename Platform::template Atomic<uint32_t> sequence{0};
  uint16_t length = 0; // bytes of the message; in the first line, as is all but the sequence
  MessageKind kind = MessageKind::write;
  uint8_t count = 0;                       // lines of the message
  std::array<uint8_t, next_bytes> bytes{}; // first line: function, BAR and offset packed in 8 B, then data

  // Sequence number of the line at a position; positions count all lines ever written.
  static uint32_t sequence_at(uint64_t position) { return static_cast<uint32_t>(position) + 1; }

  static uint64_t lines_for(size_t bytes) {
    return bytes <= first_bytes ? 1 : 1 + (bytes - first_bytes + next_bytes - 1) / next_bytes;
  }

  static uint64_t where(unsigned underlying_function, unsigned bar, uint64_t offset) {
    return offset << 16 | uint64_t{bar} << 8 | underlying_function;
  }
  static uint64_t offset_of(uint64_t where) { return where >> 16; }
  static uint8_t bar_of(uint64_t where) { return static_cast<uint8_t>(where >> 8); }
  static uint8_t underlying_function_of(uint64_t where) { return static_cast<uint8_t>(where); }
};
using TransactionLine = BasicTransactionLine<HostPlatform>;
static_assert(sizeof(TransactionLine) == 64);

// The head of a message, in its first line, before its data.
struct MessageHead {
  MessageKind kind = MessageKind::write;
  uint64_t where = 0; // TransactionLine::where
  const void* prefix = nullptr;
  size_t prefix_bytes = 0;
};

// Stores a message into `count` lines of a ring (a power of two long) from `position` on, each with its
// sequence number. `last`: the memory order of the last store.
template <class Line, size_t lines>
inline void store_message(std::array<Line, lines>& ring, uint64_t position, uint64_t count,
                          const MessageHead& head, const void* data, size_t length,
                          std::memory_order last = std::memory_order_release) {
  const auto publish = [&](Line& line, uint64_t index) {
    line.sequence.store(Line::sequence_at(position + index),
                        index + 1 == count ? last : std::memory_order_release);
  };
  Line& first = ring[position % lines];
  first.length = static_cast<uint16_t>(length);
  first.kind = head.kind;
  first.count = static_cast<uint8_t>(count);
  std::memcpy(first.bytes.data(), &head.where, sizeof head.where);
  uint8_t* const room = first.bytes.data() + sizeof head.where;
  if (head.prefix_bytes != 0)
    std::memcpy(room, head.prefix, head.prefix_bytes);
  const auto* source = static_cast<const uint8_t*>(data);
  const size_t here = Line::first_bytes - head.prefix_bytes;
  std::memcpy(room + head.prefix_bytes, source, count == 1 ? length : here);
  publish(first, 0);
  size_t done = here;
  for (uint64_t i = 1; i < count; ++i) {
    Line& line = ring[(position + i) % lines];
    const size_t left = length - done;
    if (left >= Line::next_bytes)
      std::memcpy(line.bytes.data(), source + done,
                  Line::next_bytes); // constant size: a few vector moves
    else
      std::memcpy(line.bytes.data(), source + done, left);
    publish(line, i);
    done += Line::next_bytes;
  }
}

} // namespace fpga_verbs::board
