#pragma once

#include "served/served_page.h"

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::served {

// The client's end of a served BAR, used by one thread.
class ServedProducer {
public:
  ServedProducer(ServedPage& page, unsigned underlying_function)
      : page_(page), underlying_function_(underlying_function) {}

  // Each gives false when the ring is full. 4 B, or a multiple of 8 up to 320, aligned to 4 or 8 B.
  bool push_write(unsigned bar, uint64_t offset, const void* data, size_t length) {
    return push(board::MessageKind::write, bar, offset, data, length);
  }
  // One DWORD; the answer is there when `answered` of the page is reads(). At most ServedPage::most_reads
  // wait.
  bool push_read(unsigned bar, uint64_t offset);
  uint32_t reads() const { return reads_; } // that were asked for
  // Of a read that is answered: the last one, or one of those before.
  uint32_t answer(uint32_t before = 0) const {
    return page_.answers[(reads_ - 1 - before) % ServedPage::most_reads];
  }

  // Whether the server sleeps and must be woken for the pushed lines; true once for each of its sleeps.
  bool should_wake() {
    return page_.server_sleeps.load(std::memory_order_seq_cst) != 0 &&
           page_.server_sleeps.exchange(0, std::memory_order_seq_cst) != 0;
  }

private:
  bool push(board::MessageKind kind, unsigned bar, uint64_t offset, const void* data, size_t length);

  ServedPage& page_;
  unsigned underlying_function_;
  uint64_t tail_ = 0;
  uint64_t head_seen_ = 0;
  uint32_t reads_ = 0;
};

} // namespace fpga_verbs::served
