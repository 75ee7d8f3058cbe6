#pragma once

#include "board/random.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace fpga_verbs::board {

// Models the worst-case behavior of a processor's write-combining buffers, from a seed. Until a fence it
// splits stores (never an aligned 8 B chunk, except behind a 32-bit bridge), merges neighbors within 64 B,
// emits transactions in any order and at any time, and repeats a chunk as long as another chunk of the same
// page is still pending. Every transaction is contiguous within 64 B.
class WriteCombining {
public:
  // Receives a transaction: BAR, offset, data, bytes.
  using Emit = std::function<void(unsigned, uint64_t, const uint8_t*, size_t)>;

  // `chunk_bytes`: the unit that is never split: 8, or 4 behind a 32-bit bridge, which also never merges.
  WriteCombining(uint64_t seed, unsigned chunk_bytes, Emit emit);

  // A store of whole DWORDs.
  void store(unsigned bar, uint64_t offset, const uint8_t* data, size_t bytes);

  // Emits all pending transactions.
  void fence();

private:
  // The bytes of one aligned chunk: all of it, or a half where it was stored by a DWORD.
  struct Chunk {
    std::array<uint8_t, 8> data{};
    uint8_t halves = 0; // bit i: DWORD i of the chunk
  };
  using Place = std::pair<unsigned, uint64_t>; // BAR, offset of the chunk
  using Chunks = std::map<Place, Chunk>;

  void evict_one();
  void repeat_one(const Place& to_come);
  void emit_run(Chunks::const_iterator first, size_t count);
  size_t run_length(Chunks::const_iterator first, size_t limit) const;
  bool whole(const Chunk& chunk) const { return chunk.halves == (chunk_bytes_ == 8 ? 3 : 1); }

  Random random_;
  unsigned chunk_bytes_;
  Emit emit_;
  Chunks pending_;
  Chunks gone_; // since the last fence, and not stored again
};

} // namespace fpga_verbs::board
