#include "hca/queue_pair/virtual_queue_pairs.h"

#include "hca/base/transport_timers.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/queue_pair/transport_context.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace fpga_verbs::hca {

namespace {

constexpr uint32_t generations = 256;
constexpr uint32_t index_mask = (uint32_t{1} << spec::queue_pair_index_bits) - 1;

constexpr uint32_t number_of(uint32_t place, uint32_t generation) {
  return place | (generation % generations) << spec::queue_pair_index_bits;
}

} // namespace

VirtualQueuePairs::VirtualQueuePairs(const HcaParameters& parameters, const Clock& clock)
    : parameters_(parameters), clock_(clock), place_mask_(std::bit_ceil(parameters.queue_pairs) - 1),
      places_(std::bit_ceil(parameters.queue_pairs)), hand_(parameters.queue_pairs) {}

uint32_t VirtualQueuePairs::owner(uint32_t number) const {
  const auto found = given_.find(number);
  return found != given_.end() ? found->second.queue_pair : 0;
}

// Assigning.

bool VirtualQueuePairs::can_give(uint32_t number) {
  return places_[number & place_mask_].number == 0 && !is_waiting(number);
}

void VirtualQueuePairs::give(uint32_t number, unsigned underlying_function, uint32_t queue_pair_number) {
  assert(can_give(number));
  places_[number & place_mask_] = {.number = number};
  given_[number] = {.queue_pair = queue_pair_number, .underlying_function = underlying_function};
}

// A number of an index that is not in time-wait, other than `current`, which may occupy the index; the next
// generation first.
std::optional<uint32_t> VirtualQueuePairs::another_at(uint32_t place, uint32_t current) {
  if (places_[place].number != 0 && places_[place].number != current)
    return std::nullopt;
  for (uint32_t step = 1; step <= generations; ++step) {
    const uint32_t number = number_of(place, (current >> spec::queue_pair_index_bits) + step);
    if (number != current && number != spec::multicast_queue_pair && !is_waiting(number))
      return number;
  }
  return std::nullopt;
}

std::optional<uint32_t> VirtualQueuePairs::another(uint32_t number, uint32_t queue_pair_number) {
  if (const auto found = another_at(queue_pair_number & index_mask, number))
    return found;
  for (uint32_t looks = QueuePairStateCache::reserved_indices; looks < parameters_.queue_pairs; ++looks) {
    hand_ = hand_ <= QueuePairStateCache::reserved_indices ? parameters_.queue_pairs - 1 : hand_ - 1;
    if (const auto found = another_at(hand_, number))
      return found;
  }
  return std::nullopt;
}

// Binding.

void VirtualQueuePairs::bind(uint32_t number) {
  Place& place = places_[number & place_mask_];
  assert(place.number == number);
  place.queue_pair = given_[number].queue_pair;
}

uint64_t VirtualQueuePairs::earliest_bind(uint32_t number, const spec::AddressVector& peer) {
#ifdef FPGA_VERBS_MUTANT_BOUND_IN_TIME_WAIT
  return 0;
#endif
  expire();
  const auto found = waits_.find(number);
  if (found == waits_.end())
    return 0;
  const Wait& wait = found->second;
  return wait.has_several_peers || may_be_confused(wait.peer, peer_of(peer)) ? wait.end : 0;
}

void VirtualQueuePairs::describe(uint32_t number, const spec::QueuePairControl& control) {
  const auto found = given_.find(number);
  if (found == given_.end())
    return;
  found->second.has_time_wait = is_connection(control);
  found->second.peer = peer_of(TransportPath(control).address_vector());
  found->second.lifetime = lifetime_of(control);
}

VirtualQueuePairs::Peer VirtualQueuePairs::peer_of(const spec::AddressVector& address_vector) {
  Peer peer{.local_identifier = static_cast<uint16_t>(address_vector.destination_local_identifier()),
            .is_global = address_vector.is_global() != 0};
  std::ranges::copy(address_vector.destination_gid(), peer.gid.begin());
  return peer;
}

// Whether packet_receiver could take a packet of one connection for a packet of the other.
bool VirtualQueuePairs::may_be_confused(const Peer& one, const Peer& other) const {
  if (one.is_global && other.is_global && one.gid != other.gid)
    return false;
  return parameters_.link_layer == spec::LinkLayer::ethernet ||
         one.local_identifier == other.local_identifier;
}

// Time-wait.

uint64_t VirtualQueuePairs::ticks_of(uint64_t microseconds) const {
  constexpr uint64_t second = 1'000'000;
  return microseconds / second * parameters_.clock_frequency +
         microseconds % second * parameters_.clock_frequency / second;
}

uint32_t VirtualQueuePairs::microseconds_until(uint64_t tick) const {
  constexpr uint64_t second = 1'000'000;
  const uint64_t now = clock_.now();
  const uint64_t ticks = tick > now ? tick - now : 0;
  const uint64_t microseconds = ticks / parameters_.clock_frequency * second +
                                ticks % parameters_.clock_frequency * second / parameters_.clock_frequency;
  return static_cast<uint32_t>(std::clamp<uint64_t>(microseconds, 1, ~uint32_t{0}));
}

// The peer repeats a packet as often as its retries allow, each time after up to twice its timeout, and waits
// in between for the time of an RNR NAK. The last copy has one timeout to arrive.
uint64_t VirtualQueuePairs::lifetime_of(const spec::QueuePairControl& control) const {
  const TransportPath path(control);
  const bool is_timed =
      control.service_type() == spec::ServiceType::reliable_connection && path.timeout() != 0;
  const unsigned timeout = is_timed ? path.timeout() : spec::time_wait_timeout;
  const uint64_t retries = is_timed ? path.retry_count() : spec::time_wait_retries;
  const uint64_t repeated = acknowledge_timeout_ticks(timeout, parameters_.clock_frequency) * (retries + 1);
  return control.service_type() == spec::ServiceType::reliable_connection
             ? repeated +
                   receiver_not_ready_ticks(path.receiver_not_ready_timer(), parameters_.clock_frequency)
             : repeated;
}

void VirtualQueuePairs::end(uint32_t number, Keep keep) {
  const auto found = given_.find(number);
  if (found == given_.end())
    return;
  Place& place = places_[number & place_mask_];
  if (place.queue_pair != 0 && found->second.has_time_wait)
    begin_wait(number, found->second);
  if (keep == Keep::yes) {
    // Of a datagram service the number is the queue pair's for its life.
#ifndef FPGA_VERBS_MUTANT_KEPT_NUMBER_STAYS_BOUND
    if (found->second.has_time_wait)
      place.queue_pair = 0;
#endif
    return;
  }
  place = {};
  given_.erase(found);
}

void VirtualQueuePairs::end_all(unsigned underlying_function) {
  std::vector<uint32_t> numbers;
  for (const auto& [number, given] : given_)
    if (given.underlying_function == underlying_function)
      numbers.push_back(number);
  for (const uint32_t number : numbers)
    end(number, Keep::no);
}

void VirtualQueuePairs::begin_wait(uint32_t number, const Given& given) {
  const uint64_t ticks = time_wait_ != 0 ? ticks_of(time_wait_) : given.lifetime;
  add_wait(number, {.end = clock_.now() + ticks,
                    .queue_pair = given.queue_pair,
                    .underlying_function = given.underlying_function,
                    .peer = given.peer});
}

// A kept number may already be waiting for packets of another peer.
void VirtualQueuePairs::add_wait(uint32_t number, const Wait& wait) {
  expire();
  const auto [found, is_new] = waits_.try_emplace(number, wait);
  if (!is_new) {
    ends_.erase({found->second.end, number});
    const uint64_t end = std::max(found->second.end, wait.end);
    found->second = wait;
    found->second.end = end;
    found->second.has_several_peers = true;
  }
  ends_.insert({found->second.end, number});
}

void VirtualQueuePairs::expire() {
  if (ends_.empty())
    return;
  const uint64_t now = clock_.now();
  while (!ends_.empty() && ends_.begin()->first <= now) {
    waits_.erase(ends_.begin()->second);
    ends_.erase(ends_.begin());
  }
}

uint64_t VirtualQueuePairs::end_of_wait(uint32_t number) {
  expire();
  const auto found = waits_.find(number);
  return found != waits_.end() ? found->second.end : 0;
}

uint32_t VirtualQueuePairs::waiting() {
  expire();
  return static_cast<uint32_t>(waits_.size());
}

uint64_t VirtualQueuePairs::first_free() {
  expire();
  return ends_.empty() ? 0 : ends_.begin()->first;
}

std::optional<VirtualQueuePairs::Waiting> VirtualQueuePairs::waiting_from(uint32_t from) {
  expire();
  const auto found = waits_.lower_bound(from);
  if (found == waits_.end())
    return std::nullopt;
  const Wait& wait = found->second;
  return Waiting{.number = found->first,
                 .queue_pair = wait.queue_pair,
                 .underlying_function = wait.underlying_function,
                 .microseconds_left = microseconds_until(wait.end)};
}

void VirtualQueuePairs::outlast_reset(VirtualQueuePairs& before) {
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function)
    before.end_all(function);
  waits_ = std::move(before.waits_);
  ends_ = std::move(before.ends_);
  time_wait_ = before.time_wait_;
}

} // namespace fpga_verbs::hca
