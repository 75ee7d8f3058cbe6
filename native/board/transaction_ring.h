#pragma once

#include "board/transaction_line.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fpga_verbs::board {

// The word in which the device answers a read: the value, with bit 32 set when it is valid.
using ReadAnswer = std::atomic<uint64_t>;
inline constexpr uint64_t read_answered = uint64_t{1} << 32;

// A contiguous write on its way from a store to the device, or a read. The device side splits it into
// transactions.
struct Message {
  MessageKind kind = MessageKind::write;
  uint8_t underlying_function = 0;
  uint8_t bar = 0;
  uint16_t length = 0;                       // bytes, a multiple of 4
  uint64_t offset = 0;                       // in the BAR
  uint64_t byte_enables = 0;                 // of a partial write
  ReadAnswer* answer = nullptr;              // of a read
  alignas(64) std::array<uint8_t, 384> data; // filled in whole lines; only `length` bytes have a meaning
};

// The link between the posting threads and the thread that runs the device: many producers, one consumer, in
// order. Each cache line carries a sequence number, so the consumer sees a message when its lines arrive and
// reads no index. A post between two cores costs only the transfer of its lines.
template <class Platform, uint64_t lines> class BasicTransactionRing {
public:
  BasicTransactionRing() = default;
  BasicTransactionRing(const BasicTransactionRing&) = delete;
  BasicTransactionRing& operator=(const BasicTransactionRing&) = delete;

  // Each returns false if the ring is full: the device must consume first. `data` must be readable up to
  // `length`; 4 to 320 bytes, a multiple of 4.
  bool push_write(unsigned underlying_function, unsigned bar, uint64_t offset, const void* data,
                  size_t length) {
    return push(MessageKind::write, underlying_function, bar, offset, nullptr, 0, data, length);
  }
  // Up to 64 bytes; bit i of `byte_enables` enables data[i].
  bool push_partial_write(unsigned underlying_function, unsigned bar, uint64_t offset, uint64_t byte_enables,
                          const void* data, size_t length) {
    return push(MessageKind::partial_write, underlying_function, bar, offset, &byte_enables,
                sizeof byte_enables, data, length);
  }
  // `answer` must stay valid until the device has answered.
  bool push_read(unsigned underlying_function, unsigned bar, uint64_t offset, ReadAnswer& answer) {
    ReadAnswer* const pointer = &answer;
    return push(MessageKind::read, underlying_function, bar, offset, nullptr, 0, &pointer,
                sizeof(ReadAnswer*));
  }

  // Consumer: whether the next message starts to arrive; take() takes it.
  bool arriving_next() const {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (arrived(head))
      return true;
    // Also reads the following lines, so that their transfers overlap with that of the first.
    for (uint64_t i = 1; i <= lines_watched; ++i)
      __builtin_prefetch(&lines_[(head + i) % lines]);
    return false;
  }

  // Consumer: takes the next message, which starts to arrive. False: it has not arrived completely.
  bool take(Message& message) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const uint64_t count = lines_[head % lines].count;
    if (!arrived(head + count - 1)) { // the producer stores it last: with it all are here
      for (uint64_t i = 1; i < count; ++i)
        __builtin_prefetch(&lines_[(head + i) % lines]);
      return false;
    }
    unpack(head, count, message);
    head_.store(head + count, std::memory_order_release);
    return true;
  }

  // The same of a message that need not have started. False: none has arrived completely.
  bool pop(Message& message) { return arriving_next() && take(message); }

  // Whether a message starts to arrive; any thread may call this.
  bool arriving() const { return arrived(head_.load(std::memory_order_acquire)); }

  // Whether a producer has claimed room that is not consumed. Sequentially consistent with the claim: if the
  // consumer announces its sleep and then sees no claim, every later producer sees the announcement.
  bool claimed() const {
    return tail_.load(std::memory_order_seq_cst) != head_.load(std::memory_order_relaxed);
  }

private:
  using Line = BasicTransactionLine<Platform>;
  template <class Value> using Atomic = typename Platform::template Atomic<Value>;

  static constexpr uint64_t lines_watched = 2; // behind the first: those of a command with 96 B of payload

  bool arrived(uint64_t position) const {
    return lines_[position % lines].sequence.load(std::memory_order_acquire) == Line::sequence_at(position);
  }

  bool claim(uint64_t count, uint64_t& position) {
    position = tail_.load(std::memory_order_relaxed);
    do {
      if (!has_room(position + count, head_seen_.load(std::memory_order_acquire))) {
        const uint64_t head = head_.load(std::memory_order_acquire);
        head_seen_.store(head, std::memory_order_release);
        if (!has_room(position + count, head))
          return false;
      }
    } while (!tail_.compare_exchange_weak(position, position + count, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    return true;
  }

  // Signed, because a stale position may be behind the head.
  static bool has_room(uint64_t end, uint64_t head) {
    return static_cast<int64_t>(end - head) <= int64_t{lines};
  }

  bool push(MessageKind kind, unsigned underlying_function, unsigned bar, uint64_t offset, const void* prefix,
            size_t prefix_bytes, const void* data, size_t length) {
    const uint64_t count = Line::lines_for(prefix_bytes + length);
    uint64_t position = 0;
    if (!claim(count, position))
      return false;
    const uint64_t where = Line::where(underlying_function, bar, offset);
    store_message(lines_, position, count, {kind, where, prefix, prefix_bytes}, data, length);
    return true;
  }

  void unpack(uint64_t head, uint64_t count, Message& message) const {
    const Line& first = lines_[head % lines];
    uint64_t where = 0;
    std::memcpy(&where, first.bytes.data(), sizeof where);
    message.kind = first.kind;
    message.length = first.length;
    message.offset = Line::offset_of(where);
    message.bar = Line::bar_of(where);
    message.underlying_function = Line::underlying_function_of(where);
    const uint8_t* const content = first.bytes.data() + sizeof where;
    uint8_t* destination = message.data.data();
    if (message.kind == MessageKind::write) [[likely]] {
      std::memcpy(destination, content, Line::first_bytes);
      destination += Line::first_bytes;
    } else if (message.kind == MessageKind::partial_write) {
      constexpr size_t room = Line::first_bytes - sizeof message.byte_enables;
      std::memcpy(&message.byte_enables, content, sizeof message.byte_enables);
      std::memcpy(destination, content + sizeof message.byte_enables, room);
      destination += room;
    } else {
      std::memcpy(&message.answer, content, sizeof message.answer);
    }
    constexpr size_t next_line_bytes = Line::next_bytes;
    for (uint64_t i = 1; i < count; ++i, destination += next_line_bytes)
      std::memcpy(destination, lines_[(head + i) % lines].bytes.data(), next_line_bytes);
  }

  // Producers' fields, the consumer's fields and shared fields are on separate cache lines.
  alignas(64) Atomic<uint64_t> tail_{0};
  Atomic<uint64_t> head_seen_{0};
  alignas(64) Atomic<uint64_t> head_{0};
  alignas(64) std::array<Line, lines> lines_;
};

using TransactionRing = BasicTransactionRing<HostPlatform, 512>;

} // namespace fpga_verbs::board
