#include "board/write_combining.h"

#include <cstring>
#include <iterator>

namespace fpga_verbs::board {

namespace {

constexpr size_t line_bytes = 64;
constexpr uint64_t page_bytes = 4096;
constexpr size_t double_word_bytes = 4;
constexpr size_t chunks_buffered = 24; // beyond it, some are evicted
constexpr double chance_of_eviction = 0.15;
constexpr double chance_of_repetition = 0.25;

} // namespace

WriteCombining::WriteCombining(uint64_t seed, unsigned chunk_bytes, Emit emit)
    : random_(seed), chunk_bytes_(chunk_bytes), emit_(std::move(emit)) {}

void WriteCombining::store(unsigned bar, uint64_t offset, const uint8_t* data, size_t bytes) {
  for (size_t done = 0; done < bytes; done += double_word_bytes) {
    const uint64_t at = offset + done;
    const uint64_t inside = at % chunk_bytes_;
    const Place place{bar, at - inside};
    gone_.erase(place);
    Chunk& chunk = pending_[place];
    std::memcpy(chunk.data.data() + inside, data + done, double_word_bytes);
    chunk.halves = static_cast<uint8_t>(chunk.halves | 1u << inside / double_word_bytes);
    // Flushes a chunk before its second half is stored only if that is another store.
    const bool half_of_a_store =
        inside + double_word_bytes < chunk_bytes_ && done + double_word_bytes < bytes;
    if (!half_of_a_store && (pending_.size() > chunks_buffered || random_.chance(chance_of_eviction)))
      evict_one();
  }
}

void WriteCombining::fence() {
  while (!pending_.empty())
    evict_one();
  gone_.clear();
}

void WriteCombining::evict_one() {
  const auto first = std::next(pending_.cbegin(), static_cast<ptrdiff_t>(random_.below(pending_.size())));
  const Place place = first->first;
  const size_t count = chunk_bytes_ == double_word_bytes ? 1 : run_length(first, 1 + random_.below(8));
  if (random_.chance(chance_of_repetition))
    repeat_one(place);
  emit_run(first, count);
  const auto end = std::next(first, static_cast<ptrdiff_t>(count));
  gone_.insert(first, end);
  pending_.erase(first, end);
}

// Repeats a flushed chunk while `to_come` is still to be stored in the same page.
void WriteCombining::repeat_one(const Place& to_come) {
  const uint64_t page = to_come.second / page_bytes * page_bytes;
  const auto begin = gone_.lower_bound({to_come.first, page});
  const auto end = gone_.lower_bound({to_come.first, page + page_bytes});
  const auto count = static_cast<uint64_t>(std::distance(begin, end));
  if (count != 0)
    emit_run(std::next(begin, static_cast<ptrdiff_t>(random_.below(count))), 1);
}

// Number of consecutive whole chunks within 64 B, at most `limit`.
size_t WriteCombining::run_length(Chunks::const_iterator first, size_t limit) const {
  size_t count = 1;
  auto last = first;
  for (auto next = std::next(first); count < limit && next != pending_.cend(); ++next, ++last, ++count) {
    const bool adjacent = next->first == Place{last->first.first, last->first.second + chunk_bytes_};
    if (!adjacent || next->first.second % line_bytes == 0 || !whole(last->second) || !whole(next->second))
      break;
  }
  return count;
}

void WriteCombining::emit_run(Chunks::const_iterator first, size_t count) {
  std::array<uint8_t, line_bytes> data{};
  const auto [bar, offset] = first->first;
  if (!whole(first->second)) { // a half: the DWORD that was stored
    const size_t half = first->second.halves == 1 ? 0 : double_word_bytes;
    emit_(bar, offset + half, first->second.data.data() + half, double_word_bytes);
    return;
  }
  auto chunk = first;
  for (size_t i = 0; i < count; ++i, ++chunk)
    std::memcpy(data.data() + i * chunk_bytes_, chunk->second.data.data(), chunk_bytes_);
  emit_(bar, offset, data.data(), count * chunk_bytes_);
}

} // namespace fpga_verbs::board
