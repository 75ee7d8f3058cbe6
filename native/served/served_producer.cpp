#include "served/served_producer.h"

namespace fpga_verbs::served {

using board::MessageKind;
using board::TransactionLine;

bool ServedProducer::push_read(unsigned bar, uint64_t offset) {
  constexpr uint32_t nothing = 0;
  if (!push(MessageKind::read, bar, offset, &nothing, sizeof nothing))
    return false;
  ++reads_;
  return true;
}

bool ServedProducer::push(MessageKind kind, unsigned bar, uint64_t offset, const void* data, size_t length) {
  const uint64_t count = TransactionLine::lines_for(length);
  if (tail_ + count - head_seen_ > ServedPage::lines) {
    head_seen_ = page_.head.load(std::memory_order_acquire);
    if (tail_ + count - head_seen_ > ServedPage::lines)
      return false;
  }
  // Either the server that announces its sleep sees the last line, or this producer sees the announcement.
  board::store_message(page_.ring, tail_, count,
                       {.kind = kind, .where = TransactionLine::where(underlying_function_, bar, offset)},
                       data, length, std::memory_order_seq_cst);
  tail_ += count;
  return true;
}

} // namespace fpga_verbs::served
