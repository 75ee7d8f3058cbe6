#pragma once

#include "Vcompletion_queue.h"
#include "completion_queue_model.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// The host and the blocks around completion_queue: page tables, heads and the memory of its queues. Answers
// come in order, after random times. Some heads cannot be read, and some entries do not arrive.
class CompletionHost {
public:
  // The speed of the host.
  struct Pace {
    uint32_t ready = 100;  // probability per clock, in percent
    uint32_t latency = 1;  // maximum latency of an answer, in clocks
    uint32_t lost = 0;     // probability that an entry does not arrive, per mille
    bool is_smooth = true; // each answer takes the same time and succeeds
  };

  CompletionHost(const Place& place, Random& random, CompletionPages& pages, const LiveQueues& live)
      : place_(place), random_(random), pages_(pages), live_(live) {}

  Pace pace;

  // Drives the answers of this clock.
  void serve(Vcompletion_queue& rtl, uint64_t now) {
    rtl.translate_ready = random_.percent(pace.ready);
    rtl.read_ready = random_.percent(pace.ready);
    rtl.piece_ready = random_.percent(pace.ready);
    rtl.data_ready = random_.percent(pace.ready);
    rtl.translated = is_due(translations_, now);
    if (rtl.translated) {
      rtl.translated_done = translations_.front().address.has_value();
      rtl.translated_page = translations_.front().address.value_or(0) / spec::page_bytes;
      translations_.pop_front();
    }
    rtl.read_answer = is_due(reads_, now);
    if (rtl.read_answer) {
      rtl.read_answer_failed = reads_.front().head.failed;
      rtl.read_answer_head = reads_.front().head.head | random_.bits() << 32;
      reads_.pop_front();
    }
    rtl.piece_answer = is_due(piece_answers_, now);
    if (rtl.piece_answer) {
      rtl.piece_answer_failed = piece_answers_.front().failed;
      piece_answers_.pop_front();
    }
  }

  // Accepts the RTL's requests of this clock.
  void take(const Vcompletion_queue& rtl, uint64_t now) {
    if (rtl.translate && rtl.translate_ready)
      translations_.push_back({.address = pages_.translation().translate(
                                   rtl.translate_page_table, uint64_t{rtl.translate_page} * spec::page_bytes),
                               .due = now + 1 + (pace.is_smooth ? 3 : random_.below(pace.latency))});
    if (rtl.read && rtl.read_ready)
      read_head(rtl, now);
    if (rtl.piece && rtl.piece_ready)
      addresses_.push_back({.function = rtl.piece_underlying_function, .address = rtl.piece_address});
    if (rtl.data_valid && rtl.data_ready) {
      const auto* data = reinterpret_cast<const uint8_t*>(&rtl.data);
      data_.insert(data_.end(), data, data + BEAT_BYTES);
    }
    if (!addresses_.empty() && data_.size() >= entry_bytes)
      write_piece(now);
  }

  // The oldest head that the RTL has read for this queue and the model has not.
  ModelQueue::Head take_head(uint32_t number) {
    if (heads_[number].empty())
      differ(place_, "heads that were read", 1, 0);
    const ModelQueue::Head head = heads_[number].front();
    heads_[number].pop_front();
    return head;
  }
  size_t heads(uint32_t number) const {
    const auto found = heads_.find(number);
    return found == heads_.end() ? 0 : found->second.size();
  }

  // A queue with entries that wait for its head; 0: none.
  uint32_t first_with_heads() const {
    for (const auto& [number, heads] : heads_)
      if (!heads.empty())
        return number;
    return 0;
  }

  // The oldest entry that the RTL has written and the model has not, if it belongs to this queue.
  const WrittenEntry* piece_of(uint32_t number) const {
    return pieces_.empty() || pages_.number(pieces_.front().address) != number ? nullptr : &pieces_.front();
  }
  void drop_piece() { pieces_.pop_front(); }
  void compare_piece(const WrittenEntry& model) {
    if (pieces_.empty())
      differ(place_, "entries that were written", 0, 1);
    const WrittenEntry& piece = pieces_.front();
    expect(place_, "function of a write", piece.function, model.function);
    expect(place_, "address of a write", piece.address, model.address);
    for (uint32_t byte = 0; byte < entry_bytes; ++byte)
      if (piece.bytes[byte] != model.bytes[byte])
        differ(place_, "byte of an entry", uint64_t{piece.bytes[byte]} << 32 | byte,
               uint64_t{model.bytes[byte]} << 32 | byte);
    pieces_.pop_front();
  }
  // Entries that the RTL has written, or is writing, and the model has not.
  size_t entries_left() const { return pieces_.size() + addresses_.size() + data_.size(); }

private:
  struct Translation {
    std::optional<uint64_t> address;
    uint64_t due = 0;
  };
  struct HeadRead {
    ModelQueue::Head head;
    uint64_t due = 0;
  };
  struct PieceAnswer {
    bool failed = false;
    uint64_t due = 0;
  };

  template <class Answer> bool is_due(const std::deque<Answer>& answers, uint64_t now) {
    return !answers.empty() && answers.front().due <= now && random_.percent(pace.ready);
  }
  uint64_t answer_due(uint64_t now) {
    return now + 1 + (pace.is_smooth ? pace.latency : random_.below(pace.latency));
  }

  void read_head(const Vcompletion_queue& rtl, uint64_t now) {
    const auto number = static_cast<uint32_t>((rtl.read_address - completion_head_address(0)) / 64);
    // A queue may have its first entry before its creation is answered.
    const auto queue = live_.find(number);
    if (queue != live_.end())
      expect(place_, "function of a head that is read", rtl.read_underlying_function, queue->second.function);
    ModelQueue::Head head{.head = queue == live_.end() ? 0 : queue->second.head,
                          .failed = !pace.is_smooth && random_.once(200)};
    if (!pace.is_smooth && random_.once(20))
      head.head += random_.below(40) - 20;
    heads_[number].push_back(head);
    reads_.push_back({.head = head, .due = answer_due(now)});
  }

  void write_piece(uint64_t now) {
    WrittenEntry piece = addresses_.front();
    addresses_.pop_front();
    std::copy_n(data_.begin(), entry_bytes, piece.bytes.begin());
    data_.erase(data_.begin(), data_.begin() + entry_bytes);
    piece.failed = !pages_.can_write(piece.function, piece.address) || random_.below(1000) < pace.lost;
    pieces_.push_back(piece);
    piece_answers_.push_back({.failed = piece.failed, .due = answer_due(now)});
  }

  const Place& place_;
  Random& random_;
  CompletionPages& pages_;
  const LiveQueues& live_;
  std::map<uint32_t, std::deque<ModelQueue::Head>> heads_; // heads read, by number of the queue
  std::deque<Translation> translations_;
  std::deque<HeadRead> reads_;
  std::deque<PieceAnswer> piece_answers_;
  std::deque<WrittenEntry> addresses_; // pieces with data still to come
  std::deque<uint8_t> data_;
  std::deque<WrittenEntry> pieces_; // entries that the model has not written
};

} // namespace fpga_verbs::bench
