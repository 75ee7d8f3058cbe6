#include "hca/scrub/scrubber.h"

#include "hca/lists/secded.h"

#include <algorithm>
#include <cassert>

namespace fpga_verbs::hca {

Scrubber::Scrubber(Counters& counters, QueuePairStateCache& queue_pairs, EventPort& events,
                   const std::vector<Place>& places)
    : counters_(counters), queue_pairs_(queue_pairs), events_(events) {
  reports_.reserve(places.size()); // queues refer to them
  for (const auto& [block, queue] : places) {
    if (queue == nullptr)
      continue;
    queues_.push_back(queue);
    queue->report_to(reports_.emplace_back(*this, block));
    most_entries_ = std::max(most_entries_, queue->entry_count());
  }
}

void Scrubber::step() {
  assert(has_work());
  --left_;
  for (ScrubbedQueue* const queue : queues_)
    queue->scrub_next();
}

void Scrubber::Report::corrected(unsigned underlying_function) {
  ++scrubber_.counters_.device.corrected_bit_errors;
  ++scrubber_.counters_.function[underlying_function].corrected_bit_errors;
}

void Scrubber::Report::lost(const LostDataUnit& unit) {
  ++scrubber_.counters_.device.detected_bit_errors;
  ++scrubber_.counters_.function[unit.underlying_function].detected_bit_errors;
  spec::EventUnit event;
  event.set_type(spec::EventType::memory_error);
  event.set_underlying_function(unit.underlying_function);
  event.set_reason(static_cast<uint32_t>(block_));
  event.set_object(unit.queue_pair_number);
  event.set_detail(unit.entry);
  scrubber_.events_.report(event);
  // The block sends no answer after the lost one, because the peer would take it for that one.
  if (block_ == spec::ListBlock::response)
    if (const auto transport =
            scrubber_.queue_pairs_.transport(unit.underlying_function, unit.queue_pair_number))
      transport->responder().set_answers_ended(1);
  if (!scrubber_.queue_pairs_.enter_error(unit.underlying_function, unit.queue_pair_number))
    return;
  event.set_type(spec::EventType::queue_pair_fatal);
  event.set_reason(static_cast<uint32_t>(spec::Refusal::uncorrectable_bit_error));
  scrubber_.events_.report(event);
}

size_t Scrubber::held() const {
  size_t held = 0;
  for (const ScrubbedQueue* const queue : queues_)
    held += queue->held();
  return held;
}

Scrubber::Held Scrubber::find_held(size_t rank) const {
  assert(rank < held());
  size_t place = 0;
  for (; rank >= queues_[place]->held(); ++place)
    rank -= queues_[place]->held();
  return {*queues_[place], rank};
}

unsigned Scrubber::owner_of_held(size_t rank) const {
  const Held found = find_held(rank);
  return found.queue.owner_of_held(found.rank);
}

void Scrubber::flip_held(size_t rank, uint64_t random, unsigned bits) {
  const Held found = find_held(rank);
  // Two single errors would be a double one.
  if (bits == 1 && found.queue.is_flawed(found.rank))
    return;
  const size_t word = random % found.queue.words();
  const size_t first = (random >> 8) % secded_bits;
  found.queue.flip_held(found.rank, word, first);
  if (bits == 2)
    found.queue.flip_held(found.rank, word, (first + 1 + (random >> 32) % (secded_bits - 1)) % secded_bits);
  left_ = most_entries_;
}

} // namespace fpga_verbs::hca
