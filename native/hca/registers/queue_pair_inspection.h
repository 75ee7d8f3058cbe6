#pragma once

#include "hca/kick/virtual_kick_port.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/queue_pair/virtual_queue_pairs.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Fields of a queue pair for the inspect registers: the control registers show any function's queue pairs, a
// function's register page its own. Each has its own types for the same fields; 0 if there is no queue pair.

// The queue pair's own number where `number` is the one that peers know.
inline uint32_t selected_number(const VirtualQueuePairs& numbers, uint32_t number) {
  const uint32_t owner = numbers.owner(number);
  return owner != 0 ? owner : number;
}

template <class Numbers>
uint64_t inspected_numbers(const QueuePairStateCache::Found& found, uint32_t number,
                           VirtualQueuePairs& numbers) {
  Numbers value;
  if (!found)
    return value.bits;
  const uint32_t known = found->transport().path().number();
  value.set_virtual_queue_pair(known);
  value.set_bound(numbers.find(known) != 0 ? 1 : 0);
  value.set_time_wait(numbers.is_waiting(known) ? 1 : 0);
  value.set_queue_pair_number(number);
  return value.bits;
}

template <class State> uint32_t inspected_state(const QueuePairStateCache::Found& found) {
  State value;
  if (!found)
    return value.bits;
  value.set_found(1);
  value.set_stopped(found->requester.stopped());
  value.set_scheduled(found->requester.scheduled());
  value.set_receiver_not_ready_wait(found->transport().completion().receiver_not_ready_wait());
  value.set_state(found->control.state());
  value.set_hold(found->requester.hold());
  value.set_quality_of_service_level(found->control.quality_of_service_level());
  value.set_retry_count(found->transport().completion().retry_count());
  value.set_receiver_not_ready_retry(found->transport().completion().receiver_not_ready_retry());
  value.set_underlying_function(found->control.underlying_function());
  return value.bits;
}

template <class Positions> uint64_t inspected_positions(const QueuePairStateCache::Found& found) {
  Positions value;
  if (!found)
    return value.bits;
  value.set_next(found->requester.next());
  value.set_posted(found->requester.posted());
  value.set_acknowledged(found->completion.acknowledged());
  value.set_fetch_next(found->requester.fetch_next());
  return value.bits;
}

template <class Lane>
uint32_t inspected_lane(const QueuePairStateCache::Found& found, uint32_t number,
                        const VirtualKickPort& virtual_kick, const WaitingForRoom& waiting_for_room) {
  Lane value;
  if (!found)
    return value.bits;
  const VirtualKickPort::QueuePairLane lane = virtual_kick.queue_pair_lane(number);
  value.set_commands(lane.commands);
  value.set_transmit_virtual_lane(lane.lane);
  value.set_room_wait(waiting_for_room.wait_of(number));
  return value.bits;
}

} // namespace fpga_verbs::hca
