#pragma once

#include "board/host_platform.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fpga_verbs::board {

// Shared by a writer and its readers, in front of the words of the ring. Positions count all words ever
// written.
template <class Platform> struct BasicWatchRingHeader {
  // The writer may overwrite words before this position less the size of the ring at any time.
  alignas(64) typename Platform::template Atomic<uint64_t> begun{0};
  typename Platform::template Atomic<uint64_t> messages{0}; // that were written, or were too large to be
  // Words before this position are written; stored last for each message.
  typename Platform::template Atomic<uint64_t> head{0};
};

template <class Platform> using BasicWatchWords = std::span<typename Platform::template Atomic<uint64_t>>;

// A message is one word with its length in bytes and its number modulo 2^32, followed by words with its
// bytes.
struct WatchMessage {
  static constexpr size_t word_bytes = sizeof(uint64_t);
  static constexpr uint64_t words_of(size_t bytes) { return 1 + (bytes + word_bytes - 1) / word_bytes; }
};

// Writes messages for any number of readers. The writer does not know its readers and never waits for them: a
// late reader loses messages. After a copy, a reader checks that the writer was not overwriting the words.
// `words`: their number, a power of two.
template <class Platform> class BasicWatchWriter {
public:
  BasicWatchWriter(BasicWatchRingHeader<Platform>& header, BasicWatchWords<Platform> words)
      : header_(header), words_(words) {}

  // A message longer than half of the ring is lost for all readers. A message whose length the compiler knows
  // takes one load and one store per word, but at the end of the ring.
  template <size_t extent> void put(std::span<const uint8_t, extent> message) {
    // Local copies stay in registers: the compiler must assume that a store to a ring word changes members.
    BasicWatchRingHeader<Platform>& header = header_;
    const BasicWatchWords<Platform> words = words_;
    const uint64_t tail = tail_;
    const uint64_t count = WatchMessage::words_of(message.size());
    const uint64_t first = tail & (words.size() - 1);
    if (count > words.size() / 2 || first + count > words.size()) {
      put_at_end(message);
      return;
    }
    auto* const place = &words[first];
    put_words(header, tail, messages_, message, [place](size_t index) -> auto& { return place[index]; });
  }

  // Messages that were lost before this writer got them: readers count them.
  void lose(uint64_t messages) { publish(header_, tail_, messages_ + messages); }

private:
  // A message that goes on at the begin of the ring, or does not fit.
  [[gnu::noinline]] void put_at_end(std::span<const uint8_t> message) {
    if (WatchMessage::words_of(message.size()) > words_.size() / 2)
      publish(header_, tail_, messages_ + 1);
    else
      put_words(header_, tail_, messages_, message,
                [this](size_t index) -> auto& { return words_[(tail_ + index) & (words_.size() - 1)]; });
  }

  // `place`: of a word of the message in the ring.
  template <size_t extent, class Place>
  void put_words(BasicWatchRingHeader<Platform>& header, uint64_t tail, uint64_t number,
                 std::span<const uint8_t, extent> message, Place place) {
    const uint64_t count = WatchMessage::words_of(message.size());
    const uint64_t end = tail + count;
    header.begun.store(end, std::memory_order_relaxed);
    // Release ordering: a reader that sees one of these words also sees `begun`.
    place(0).store(number << 32 | message.size(), std::memory_order_release);
#pragma GCC unroll 8
    for (size_t i = 1; i < count; ++i)
      place(i).store(word_of(message, i - 1), std::memory_order_release);
    publish(header, end, number + 1);
  }

  void publish(BasicWatchRingHeader<Platform>& header, uint64_t end, uint64_t messages) {
    tail_ = end;
    messages_ = messages;
    header.messages.store(messages, std::memory_order_release);
    header.head.store(end, std::memory_order_release);
  }

  // The bytes of a message in word `index`, those beyond its end zero.
  template <size_t extent> static uint64_t word_of(std::span<const uint8_t, extent> message, size_t index) {
    constexpr bool is_whole = extent != std::dynamic_extent && extent % WatchMessage::word_bytes == 0;
    const size_t begin = index * WatchMessage::word_bytes;
    uint64_t word = 0;
    std::memcpy(&word, message.data() + begin,
                is_whole ? sizeof word : std::min(sizeof word, message.size() - begin));
    return word;
  }

  BasicWatchRingHeader<Platform>& header_;
  BasicWatchWords<Platform> words_;
  uint64_t tail_ = 0;
  uint64_t messages_ = 0;
};

// Reads from now on, at its own pace; read-only access to the shared memory.
template <class Platform> class BasicWatchReader {
public:
  BasicWatchReader(const BasicWatchRingHeader<Platform>& header, BasicWatchWords<Platform> words)
      : header_(header), words_(words) {
    constexpr unsigned most_tries = 1000; // of a writer that never rests what is lost first is not known
    typename Platform::Loop loop;
    for (unsigned tries = 0; tries < most_tries && !knows_number_; ++tries) {
      loop.again(0);
      go_to_head();
      count_losses_at(position_);
    }
  }

  // Copies messages into `to` back to back, oldest first, as many as have arrived completely and fit. Returns
  // the bytes. A message larger than `to` is lost.
  size_t take(std::span<uint8_t> to) {
    size_t taken = 0;
    typename Platform::Loop loop;
    for (;;) {
      loop.again(state() + taken);
      const uint64_t head = header_.head.load(std::memory_order_acquire);
      if (head == position_) {
        count_losses_at(head);
        return taken;
      }
      const Copied copied = copy(head, to.subspan(taken));
      if (copied.outcome == Outcome::no_room && taken != 0)
        return taken;
      if (copied.outcome == Outcome::overwritten) {
        go_to_head();
        continue;
      }
      expect(copied.number + 1, copied.number);
      position_ += copied.words;
      if (copied.outcome == Outcome::no_room)
        ++lost_;
      else
        taken += copied.bytes;
    }
  }

  // Number of messages that this reader has lost.
  uint64_t lost() const { return lost_; }

  // A hash of its state, for Platform::Loop.
  uint64_t state() const {
    constexpr uint64_t odd = 0x9e37'79b9'7f4a'7c15;
    return ((position_ * odd + expected_) * odd + lost_) * odd + (knows_number_ ? odd : 0);
  }

private:
  enum class Outcome : uint8_t { copied, no_room, overwritten };
  struct Copied {
    Outcome outcome = Outcome::overwritten;
    uint32_t number = 0;
    size_t bytes = 0;
    uint64_t words = 0;
  };

  const auto& at(uint64_t position) const { return words_[position & (words_.size() - 1)]; }
  // Whether the words from position_ on were not overwritten while they were read.
  bool is_intact() const {
    return header_.begun.load(std::memory_order_relaxed) - position_ <= words_.size();
  }

  Copied copy(uint64_t head, std::span<uint8_t> to) const {
    if (head - position_ > words_.size())
      return {};
    const uint64_t first = at(position_).load(std::memory_order_acquire);
    if (!is_intact())
      return {};
    Copied copied{.number = static_cast<uint32_t>(first >> 32), .bytes = static_cast<uint32_t>(first)};
    copied.words = WatchMessage::words_of(copied.bytes);
    if (copied.words > head - position_)
      return {}; // no writer of this kind
    if (copied.bytes > to.size()) {
      copied.outcome = Outcome::no_room;
      return copied;
    }
    for (size_t done = 0; done < copied.bytes; done += WatchMessage::word_bytes) {
      const uint64_t word =
          at(position_ + 1 + done / WatchMessage::word_bytes).load(std::memory_order_acquire);
      const size_t left = copied.bytes - done;
      std::memcpy(to.data() + done, &word, left < sizeof word ? left : sizeof word);
    }
    if (is_intact())
      copied.outcome = Outcome::copied;
    return copied;
  }

  void go_to_head() { position_ = header_.head.load(std::memory_order_acquire); }

  // No message is available, but earlier ones may have been lost: uses the writer's count, unless it is about
  // to write.
  void count_losses_at(uint64_t head) {
    const auto messages = static_cast<uint32_t>(header_.messages.load(std::memory_order_acquire));
    if (header_.begun.load(std::memory_order_relaxed) != head)
      return;
    expect(messages, messages);
  }

  // The next message has the number `next`; unread messages before `until` are lost.
  void expect(uint32_t next, uint32_t until) {
    if (knows_number_)
      lost_ += until - expected_; // modulo 2^32
    knows_number_ = true;
    expected_ = next;
  }

  const BasicWatchRingHeader<Platform>& header_;
  BasicWatchWords<Platform> words_;
  uint64_t position_ = 0;
  uint32_t expected_ = 0; // number of the next message, modulo 2^32
  bool knows_number_ = false;
  uint64_t lost_ = 0;
};

using WatchRingHeader = BasicWatchRingHeader<HostPlatform>;
using WatchWords = BasicWatchWords<HostPlatform>;
using WatchWriter = BasicWatchWriter<HostPlatform>;
using WatchReader = BasicWatchReader<HostPlatform>;

} // namespace fpga_verbs::board
