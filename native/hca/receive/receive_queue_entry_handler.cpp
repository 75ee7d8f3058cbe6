#include "hca/receive/receive_queue_entry_handler.h"

#include "spec/queues.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

constexpr uint64_t key_of(uint32_t queue_pair_number, uint32_t sequence_number) {
  return uint64_t{queue_pair_number} << 16 | sequence_number;
}

} // namespace

ReceiveQueueEntryHandler::ReceiveQueueEntryHandler(const HcaParameters& parameters, Counters& counters,
                                                   HostPort& host, PacketMemory& packets,
                                                   QueuePairStateCache& queue_pairs,
                                                   const SharedReceiveQueues& shared_receive_queues,
                                                   MemoryTranslation& translation, EventPort& events,
                                                   DataLink<spec::ReceiveUnit>& requests_accepted,
                                                   DataLink<spec::ReceiveUnit>& requests_placed)
    : reader_(counters, host, translation, events), packets_(packets), queue_pairs_(queue_pairs),
      shared_receive_queues_(shared_receive_queues), requests_accepted_(requests_accepted),
      requests_placed_(requests_placed), queue_({.entries = entries,
                                                 .lists = entries,
                                                 .underlying_functions = parameters.underlying_functions,
                                                 .ready_on_push = true}) {
  keys_.fill(no_key);
}

bool ReceiveQueueEntryHandler::step() {
  const bool served = serve_waiting();
  const bool taken = take_accepted();
  return (pass() || taken || served) && (queue_.lists_ready().any() || !requests_accepted_.empty() ||
                                         (waiting_.any() && unreferenced_.any()));
}

ReceiveQueueEntryHandler::Taken ReceiveQueueEntryHandler::take_at_once(const spec::ReceiveUnit& unit) {
  if (!queue_.empty() || !requests_placed_.has_credit() || !has_place(unit))
    return Taken::no;
  requests_placed_.hand_over(unit);
  return Taken::done;
}

ReceiveQueueEntryHandler::TakenTrain
ReceiveQueueEntryHandler::take_train(std::span<const spec::ReceiveUnit> train) {
  TakenTrain taken;
  const size_t most = queue_.empty() ? std::min(train.size(), requests_placed_.credits()) : 0;
  while (taken.units != most && has_place(train[taken.units]))
    ++taken.units;
  if (taken.units != 0)
    requests_placed_.hand_over_train(train.first(taken.units));
  return taken;
}

// Waiting units come before new ones and get a free place first.
bool ReceiveQueueEntryHandler::serve_waiting() {
  if (!waiting_.any() || !unreferenced_.any())
    return false;
  served_ = static_cast<uint16_t>(waiting_.find_next(served_));
  waiting_.clear(served_);
  [[maybe_unused]] const bool placed = has_place(queue_.front(served_));
  assert(placed);
  queue_.mark_ready(queue_.head(served_));
  return true;
}

// Stores nothing while no unit waits: the unit bypasses an empty queue, in RTL too.
bool ReceiveQueueEntryHandler::take_accepted() {
  if (requests_accepted_.empty() || queue_.inbound_credits() == 0)
    return false;
  const spec::ReceiveUnit& unit = requests_accepted_.front();
  if (queue_.empty() && requests_placed_.has_credit() && has_place(unit))
    requests_placed_.hand_over(unit);
  else
    queue_.push(unit.queue_pair_number(), unit, unit.underlying_function());
  requests_accepted_.pop();
  return true;
}

// Passes on the first unit of the list whose turn it is, or lets the list wait for a place.
bool ReceiveQueueEntryHandler::pass() {
  const uint16_t list = queue_.arbitrate(requests_placed_.has_credit() ? 1 : 0);
  if (list == no_list)
    return false;
  if (const spec::ReceiveUnit unit = queue_.front(list); has_place(unit)) {
    requests_placed_.push(unit);
    queue_.pop_front(list);
  } else {
    queue_.mark_not_ready(queue_.head(list));
    waiting_.set(list);
  }
  return true;
}

// Whether the unit has all that it needs from this block.
bool ReceiveQueueEntryHandler::has_place(const spec::ReceiveUnit& unit) {
  if (unit.action() != spec::ReceiveAction::send)
    return true;
  Packet& packet = packets_[static_cast<uint16_t>(unit.packet())];
  return packet.receive_entry != no_receive_entry || place(unit, packet);
}

// Puts the entry of the packet into a place. False: all places are in use.
bool ReceiveQueueEntryHandler::place(const spec::ReceiveUnit& unit, Packet& packet) {
  const Key key = key_of(unit.queue_pair_number(), packet.receive_sequence_number);
  std::optional<uint8_t> found = find(key);
  // The rest of a message that ended early, from before the restart of its queue pair.
  bool is_stale = found && packet.first;
#ifdef FPGA_VERBS_MUTANT_STALE_RECEIVE_ENTRY
  is_stale = false;
#endif
  if (!found || is_stale) {
    const std::optional<uint8_t> taken = take_place();
    if (!taken)
      return false;
    if (is_stale)
      forget(*found);
    found = taken;
    ReceiveEntry& entry = entries_[*taken];
    entry.sequence_number = packet.receive_sequence_number;
    entry.capacity = 0;
    entry.scatter_count = 0; // nothing behind it is looked at
    entry.refusal = load(unit, packet, entry);
    keys_[*taken] = key;
    filled_ |= uint32_t{1} << *taken;
  }
  packet.receive_entry = *found;
  ++references_[*found];
  unreferenced_.clear(*found);
  return true;
}

// Content-addressed: RTL compares all used places at once.
std::optional<uint8_t> ReceiveQueueEntryHandler::find(Key key) const {
  for (uint32_t left = filled_; left != 0; left &= left - 1)
    if (const auto place = static_cast<uint8_t>(std::countr_zero(left)); keys_[place] == key)
      return place;
  return std::nullopt;
}

// In turn, so that an entry stays as long as possible.
std::optional<uint8_t> ReceiveQueueEntryHandler::take_place() {
  if (!unreferenced_.any())
    return std::nullopt;
  taken_ = static_cast<uint8_t>(unreferenced_.find_next(taken_));
  return taken_;
}

// Page table of the entries of the receive queue; nothing: the queue pair is gone.
std::optional<uint32_t> ReceiveQueueEntryHandler::entry_pages(const spec::ReceiveUnit& unit) {
  const unsigned function = unit.underlying_function();
  const auto queue_pair = queue_pairs_.find(function, unit.queue_pair_number());
  if (!queue_pair)
    return std::nullopt;
  const uint32_t number = queue_pair->control.shared_receive_queue();
  if (number == 0)
    return queue_pair->control.receive_entry_pages();
  const SharedReceiveQueue* const shared = shared_receive_queues_.find(function, number);
  return shared != nullptr ? std::optional(shared->entry_pages) : std::nullopt;
}

// Reads an entry and checks all of it.
Refusal ReceiveQueueEntryHandler::load(const spec::ReceiveUnit& unit, const Packet& packet,
                                       ReceiveEntry& entry) {
  constexpr uint32_t header_bytes = spec::ReceiveEntryHeader::bytes;
  std::byte contents[header_bytes + spec::gather_entries * spec::GatherEntry::bytes]; // `length` are read
  const uint32_t length = packet.receive_entry_length;
  const std::optional<uint32_t> pages = entry_pages(unit);
  if (!pages ||
      !reader_.read(unit.underlying_function(), *pages, packet.receive_entry_offset, contents, length))
    return Refusal::receive_queue_fault;
  spec::ReceiveEntryHeader header;
  std::memcpy(&header, contents, sizeof header);
  if (!header.reserved_is_zero() || header.sequence_number() != packet.receive_sequence_number ||
      header_bytes + header.scatter_count() * spec::GatherEntry::bytes != length)
    return Refusal::receive_queue_mismatch;
  entry.scatter_count = static_cast<uint8_t>(header.scatter_count());
  std::memcpy(entry.scatter.data(), contents + header_bytes, length - header_bytes);
  for (unsigned index = 0; index < entry.scatter_count; ++index)
    entry.capacity += entry.scatter[index].length();
  return Refusal::none;
}

unsigned ReceiveQueueEntryHandler::references() const {
  return std::accumulate(references_.begin(), references_.end(), 0u);
}

unsigned ReceiveQueueEntryHandler::places_filled() const {
  unsigned filled = 0;
  for (const Key key : keys_)
    filled += key != no_key ? 1 : 0;
  return filled;
}

} // namespace fpga_verbs::hca
