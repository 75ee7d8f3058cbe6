#include "served/served_consumer.h"

#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fpga_verbs::served {

using board::MessageKind;
using board::TransactionLine;

namespace {

constexpr unsigned bars = 6;
constexpr size_t double_word = 4;
constexpr size_t segment = 8;

uint64_t where_of(const TransactionLine& first) {
  uint64_t where = 0;
  std::memcpy(&where, first.bytes.data(), sizeof where);
  return where;
}

} // namespace

Taken ServedConsumer::look(TransactionLine& first) {
  if (*malformed_ != '\0')
    return Taken::malformed;
  if (!arrived(head_))
    return Taken::none;
  const TransactionLine& shared = page_.ring[head_ % ServedPage::lines];
  first.length = shared.length;
  first.kind = shared.kind;
  first.count = shared.count;
  first.bytes = shared.bytes;
  // Prevents the compiler from reading again what the client may have changed since.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  malformed_ = check(first, where_of(first));
  if (*malformed_ != '\0')
    return Taken::malformed;
  for (uint64_t i = 1; i < first.count; ++i)
    if (!arrived(head_ + i))
      return Taken::none;
  return Taken::one;
}

Taken ServedConsumer::take(ServedTransaction& transaction) {
  TransactionLine first;
  const Taken found = look(first);
  if (found != Taken::one)
    return found;
  const uint64_t where = where_of(first);
  transaction.kind = first.kind;
  transaction.bar = TransactionLine::bar_of(where);
  transaction.length = first.length;
  transaction.offset = TransactionLine::offset_of(where);
  uint8_t* to = transaction.data.data();
  std::memcpy(to, first.bytes.data() + sizeof where, TransactionLine::first_bytes);
  to += TransactionLine::first_bytes;
  for (uint64_t i = 1; i < first.count; ++i, to += TransactionLine::next_bytes)
    std::memcpy(to, page_.ring[(head_ + i) % ServedPage::lines].bytes.data(), TransactionLine::next_bytes);
  head_ += first.count;
  page_.head.store(head_, std::memory_order_release);
  return Taken::one;
}

const char* ServedConsumer::check(const TransactionLine& first, uint64_t where) const {
  const size_t length = first.length;
  if (first.kind != MessageKind::write && first.kind != MessageKind::read)
    return "a transaction that is neither a write nor a read";
  if (first.kind == MessageKind::read && length != double_word)
    return "a read of other than 4 B";
  if (length != double_word && (length == 0 || length > board::message_bytes || length % segment != 0))
    return "a write of neither 4 B nor a multiple of 8 up to 320 B";
  if (first.count != TransactionLine::lines_for(length))
    return "a number of lines that does not follow from the length";
  if (TransactionLine::underlying_function_of(where) != underlying_function_)
    return "a BAR of another underlying function";
  if (TransactionLine::bar_of(where) >= bars)
    return "a BAR beyond the sixth";
  if (TransactionLine::offset_of(where) % (length == double_word ? double_word : segment) != 0)
    return "an offset that is not aligned";
  return "";
}

void ServedConsumer::answer(uint32_t value) {
  page_.answers[answered_ % ServedPage::most_reads] = value;
  page_.answered.store(++answered_, std::memory_order_seq_cst);
  if (page_.client_sleeps.load(std::memory_order_seq_cst) == 0)
    return;
  page_.client_sleeps.store(0, std::memory_order_relaxed);
  // A function has one thread; the server wakes one, however many a client puts to sleep there.
  syscall(SYS_futex, &page_.answered, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool ServedConsumer::announce_sleep() {
  page_.server_sleeps.store(1, std::memory_order_seq_cst);
  TransactionLine first;
  return look(first) == Taken::none;
}

} // namespace fpga_verbs::served
