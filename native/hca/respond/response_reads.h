#pragma once

#include "hca/base/bit_mask.h"
#include "hca/base/block.h"
#include "spec/parameters.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// An RDMA READ that waits for its responses, or is being answered.
struct ResponseRead {
  uint64_t address = 0;
  uint32_t remote_key = 0;
  uint32_t length = 0;  // bytes
  uint32_t offset = 0;  // bytes that were answered
  uint32_t packets = 0; // responses that were built
};

// The RDMA READs of all queue pairs that wait for their responses: dma_validation adds them, response removes
// them.
class ResponseReads {
public:
  bool has_free() const { return free_.any(); }

  // Wakes the waker when a place becomes free.
  void want() { wanted_ = true; }

  // Allocates a place; nothing: all are in use.
  std::optional<uint16_t> begin(const ResponseRead& read) {
    if (!free_.any())
      return std::nullopt;
    const auto place = static_cast<uint16_t>(free_.take_first());
    reads_[place] = read;
    return place;
  }

  ResponseRead& operator[](uint16_t place) { return reads_[place]; }

  void end(uint16_t place) {
    assert(!free_.test(place));
    free_.set(place);
    if (!wanted_)
      return;
    wanted_ = false;
    waker_.wake();
  }

  void on_free(Waker waker) { waker_ = waker; }

private:
  std::array<ResponseRead, spec::response_reads> reads_{};
  BitMask free_{spec::response_reads, true};
  bool wanted_ = false;
  Waker waker_;
};

} // namespace fpga_verbs::hca
