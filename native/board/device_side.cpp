#include "board/device_side.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fpga_verbs::board {

namespace {

constexpr uint32_t all_ones = ~uint32_t{0};
constexpr unsigned double_word_bytes = 4;
constexpr unsigned transaction_bytes = 64;

uint64_t enables_of(unsigned bytes) { return ~uint64_t{0} >> (transaction_bytes - bytes); }

} // namespace

DeviceSide::DeviceSide(TransactionRing& ring, Device& device, const hca::Clock& clock, FaultRules& faults,
                       TransactionTrace& trace, BoardCounters& counters, Wakeups& wakeups,
                       TransactionSizes sizes)
    : ring_(ring), device_(device), clock_(clock), faults_(faults), trace_(trace), counters_(counters),
      wakeups_(wakeups), map_(device), sizes_(sizes),
      cuts_lines_(std::min(sizes.prefetchable_bytes, sizes.bridge_bytes) < transaction_bytes) {
  burst_.data = message_.data.data();
}

bool DeviceSide::next_message() { return message_left() || (ring_.arriving_next() && take_message()); }

bool DeviceSide::take_message() {
  if (!ring_.take(message_))
    return false;
  message_done_ = 0;
  const BarMap::Place place =
      map_.find(message_.underlying_function, message_.bar, message_.offset, message_.length);
  burst_.region = place.region;
  burst_.underlying_function = message_.underlying_function;
  burst_.page = place.page;
  burst_.offset = place.offset;
  burst_.length = message_.length;
  if (cuts_lines_) [[unlikely]]
    cut_bytes_ = std::min(map_.prefetchable(message_.bar) ? sizes_.prefetchable_bytes : transaction_bytes,
                          sizes_.bridge_bytes);
  return true;
}

void DeviceSide::take_notice() {
  if (!wakeups_.take_note())
    return;
  device_.notify_port();
  device_busy_ = true;
}

// Steps the device; returns the number of transactions taken.
unsigned DeviceSide::run(unsigned limit) {
  take_notice();
  if (!device_busy_)
    return 0;
  if (faults_.any()) [[unlikely]]
    flip_bits();
  const unsigned done = device_.run(limit);
  counters_.steps += done;
  device_busy_ = done == limit;
  if (!device_busy_)
    device_deadline_ = device_.next_deadline();
  return done;
}

uint64_t DeviceSide::work(uint64_t limit) {
  constexpr unsigned messages_at_once = 8;  // as many commands as pass each block without waiting in a list
  constexpr unsigned steps_in_between = 64; // about what they need on their way through the device
  uint64_t done = 0;
  bool woken = false;
  while (done < limit) {
    const uint64_t before = done;
    unsigned taken = 0;
    for (; taken < messages_at_once && next_message(); ++taken) {
      done += deliver_burst();
      for (; message_left() && device_.can_accept_write(); ++done)
        deliver_next();
      if (message_left())
        break;
    }
    done += run(steps_in_between);
    if (done != before) {
      // The ring was empty, and the device is at rest.
      if (taken < messages_at_once && !message_left() && !device_busy_)
        break;
      continue;
    }
    // A device that has just worked has read the clock.
    if (done != 0 || woken || !wake_when_due())
      break;
    woken = true;
  }
  return done;
}

bool DeviceSide::work_one(bool passes_by) {
  device_.pass_by_empty_links(passes_by);
  if (next_message() && device_.can_accept_write()) {
    deliver_next();
    return true;
  }
  if (run(1) != 0)
    return true;
  if (held_.next_deadline() <= clock_.now()) {
    release_due(false);
    return true;
  }
  return wake_when_due() && run(1) != 0;
}

bool DeviceSide::deliver_one() {
  if (!next_message())
    return false;
  wait_until_accepted();
  deliver_next();
  return true;
}

bool DeviceSide::play(const Transaction& transaction) {
  while (deliver_one()) {
  }
  if (transaction.kind == TransactionKind::read) {
    uint32_t recorded = 0;
    std::memcpy(&recorded, transaction.data.data(), sizeof recorded);
    return read(transaction.underlying_function, transaction.bar, transaction.offset) == recorded;
  }
  wait_until_accepted();
  record_and_write(transaction);
  return true;
}

void DeviceSide::release_held() { release_due(true); }

// Delivers a whole message at once if nothing can affect its transactions on the way and the device supports
// it. Returns their number.
uint64_t DeviceSide::deliver_burst() {
  if (message_done_ != 0 || message_.kind != MessageKind::write || cut_bytes_ != transaction_bytes ||
      !is_plain() || !device_.write_burst(burst_))
    return 0;
  message_done_ = message_.length;
  device_busy_ = true;
  const uint64_t transactions = (message_.length + transaction_bytes - 1) / transaction_bytes;
  counters_.writes += transactions;
  return transactions;
}

// Call when message_left() and the device accepts a write.
void DeviceSide::deliver_next() {
  if (message_.kind == MessageKind::read)
    return answer_read();
  const unsigned done = message_done_;
  const uint64_t offset = message_.offset + done;
  const unsigned length =
      std::min(message_.length - done, cut_bytes_ - static_cast<unsigned>(offset % cut_bytes_));
  const uint8_t* const data = message_.data.data() + done;
  uint64_t enables = enables_of(length);
  if (message_.kind == MessageKind::partial_write)
    enables &= message_.byte_enables >> done;
  message_done_ += length;
  if (is_plain() && burst_.region != spec::RegionType::none) {
    const BarMap::Place place{burst_.region, burst_.page, burst_.offset + done};
    return write_at(place, message_.underlying_function, enables, data, length);
  }
  Transaction transaction{TransactionKind::write,
                          message_.underlying_function,
                          message_.bar,
                          static_cast<uint8_t>(length),
                          offset,
                          enables,
                          0,
                          {}};
  std::memcpy(transaction.data.data(), data, length);
  arrive(transaction);
}

void DeviceSide::answer_read() {
  release_due(true);
  message_done_ = message_.length;
  const uint32_t value = read(message_.underlying_function, message_.bar, message_.offset);
  message_.answer->store(read_answered | value, std::memory_order_release);
}

// Of one data unit that waits in the device, by chance.
void DeviceSide::flip_bits() {
  const size_t held = faults_.has(FaultKind::flip_bits) ? device_.held_data_units() : 0;
  if (held == 0)
    return;
  const auto rank = static_cast<size_t>(faults_.random().below(held));
  const FaultRule* const rule =
      faults_.happens({FaultKind::flip_bits}, {device_.owner_of_data_unit(rank), std::nullopt, 0, 1});
  if (rule == nullptr)
    return;
  device_.flip_bits(rank, faults_.random().next(), rule->bits);
}

bool DeviceSide::wake_when_due() {
  const uint64_t deadline = next_deadline();
  if (deadline == no_deadline || clock_.now() < deadline)
    return false;
  release_due(false);
  device_busy_ = true;
  return true;
}

void DeviceSide::wait_until_accepted() {
  while (!device_.can_accept_write() && run(1) != 0) {
  }
}

// Delivers a write to the device through the fault rules.
void DeviceSide::arrive(const Transaction& transaction) {
  held_.count_arrival();
  const FaultRule* const rule = faults_.happens(
      {FaultKind::drop, FaultKind::tear, FaultKind::delay, FaultKind::reorder},
      {transaction.underlying_function, transaction.bar, transaction.offset, transaction.length});
  if (rule == nullptr) {
    if (held_.blocks())
      held_.follow(transaction);
    else
      record_and_write(transaction);
  } else if (rule->kind == FaultKind::drop) {
    ++counters_.writes_lost;
  } else if (rule->kind == FaultKind::tear) {
    tear(transaction, rule->double_words);
  } else {
    held_.hold(transaction, rule->kind == FaultKind::delay, rule->transactions, rule->ticks, clock_.now());
  }
  release_due(false);
}

// Delivers the remaining runs of DWORDs of a write.
void DeviceSide::tear(const Transaction& transaction, uint32_t double_words) {
  uint32_t left = double_words & static_cast<uint32_t>(enables_of(transaction.length / double_word_bytes));
  if (left == 0)
    ++counters_.writes_lost;
  while (left != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const auto count = static_cast<unsigned>(std::countr_one(left >> first));
    left &= ~(static_cast<uint32_t>(enables_of(count)) << first);
    Transaction part = transaction;
    part.offset += first * double_word_bytes;
    part.length = static_cast<uint8_t>(count * double_word_bytes);
    part.byte_enables = transaction.byte_enables >> (first * double_word_bytes) & enables_of(part.length);
    std::memcpy(part.data.data(), transaction.data.data() + first * double_word_bytes, part.length);
    wait_until_accepted();
    record_and_write(part);
  }
}

void DeviceSide::release_due(bool all) {
  if (!held_.any())
    return;
  while (const std::optional<Transaction> transaction = held_.take_due(clock_.now(), all)) {
    wait_until_accepted();
    record_and_write(*transaction);
  }
}

void DeviceSide::record_and_write(Transaction transaction) {
  if (trace_.on()) {
    transaction.time = clock_.now();
    trace_.record(transaction);
  }
  write(transaction.underlying_function, transaction.bar, transaction.offset, transaction.byte_enables,
        transaction.data.data(), transaction.length);
}

void DeviceSide::write(unsigned underlying_function, unsigned bar, uint64_t offset, uint64_t byte_enables,
                       const uint8_t* data, unsigned length) {
  const BarMap::Place place = map_.find(underlying_function, bar, offset, length);
  if (place)
    write_at(place, underlying_function, byte_enables, data, length);
  else
    ++counters_.writes_unsupported;
}

void DeviceSide::write_at(const BarMap::Place& place, unsigned underlying_function, uint64_t byte_enables,
                          const uint8_t* data, unsigned length) {
  hca::BarWrite write;
  write.region = place.region;
  write.underlying_function = static_cast<uint8_t>(underlying_function);
  write.page = place.page;
  write.offset = place.offset;
  write.length = length;
  write.byte_enables = byte_enables;
  write.data = data;
  ++counters_.writes;
  device_busy_ = true;
  device_.write(write);
}

uint32_t DeviceSide::read(unsigned underlying_function, unsigned bar, uint64_t offset) {
  const BarMap::Place place = map_.find(underlying_function, bar, offset, double_word_bytes);
  uint32_t value = all_ones;
  const bool gone =
      faults_.any() && faults_.happens({FaultKind::read_all_ones},
                                       {underlying_function, bar, offset, double_word_bytes}) != nullptr;
  if (!place) {
    ++counters_.reads_unsupported;
  } else if (!gone) {
    ++counters_.reads;
    device_busy_ = true;
    value = device_.read(place.region, place.page, place.offset);
  }
  if (trace_.on()) {
    Transaction transaction{TransactionKind::read,
                            static_cast<uint8_t>(underlying_function),
                            static_cast<uint8_t>(bar),
                            double_word_bytes,
                            offset,
                            enables_of(double_word_bytes),
                            clock_.now(),
                            {}};
    std::memcpy(transaction.data.data(), &value, sizeof value);
    trace_.record(transaction);
  }
  return value;
}

} // namespace fpga_verbs::board
