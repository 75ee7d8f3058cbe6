#include "hca/management/object_inspection.h"

#include "hca/memory/key_table.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/queue_pair/virtual_queue_pairs.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

constexpr uint32_t most_indices = 8192; // of a call

QueuePairFacts facts_of(const QueuePairStateCache::Copy& copy) {
  const auto& [control, requester, completion, responder] = copy.parts;
  const auto transport = copy.parts.transport();
  const TransportPath path = transport.path();
  const spec::AddressVector peer = path.address_vector();
  QueuePairFacts facts{
      .number = copy.number,
      .virtual_queue_pair = path.number(),
      .underlying_function = copy.underlying_function,
      .service_type = control.service_type(),
      .state = control.state(),
      .level = control.quality_of_service_level(),
      .hold = requester.hold(),
      .protection_domain = control.protection_domain(),
      .port = control.port(),
      .send_completion_queue = control.send_completion_queue(),
      .receive_completion_queue = control.receive_completion_queue(),
      .shared_receive_queue = control.shared_receive_queue(),
      .destination_queue_pair = path.peer_number(),
      .destination_local_identifier = static_cast<uint16_t>(peer.destination_local_identifier()),
      .next = static_cast<uint16_t>(requester.next()),
      .posted = static_cast<uint16_t>(requester.posted()),
      .acknowledged = static_cast<uint16_t>(completion.acknowledged()),
      .receive_head = static_cast<uint16_t>(responder.receive_head()),
      .receive_tail = static_cast<uint16_t>(responder.receive_tail()),
      .next_psn = transport.requester().next_psn(),
      .expected_psn = transport.responder().expected_psn(),
  };
  std::ranges::copy(peer.destination_gid(), facts.destination_gid.begin());
  return facts;
}

// `add` adds the existing object at an index.
template <class Table, class Found, class Add>
uint32_t inspect(const Table& table, const Inspection& inspection, const std::vector<Found>& found, Add add) {
  const uint32_t indices = table.indices();
  const uint64_t limit = uint64_t{inspection.from} + most_indices;
  const uint32_t end = limit < indices ? static_cast<uint32_t>(limit) : indices;
  for (uint32_t index = inspection.from; index < end; ++index) {
    if (found.size() == most_inspected)
      return index;
    if (table.is_of(index, inspection.functions))
      add(index);
  }
  return end < indices ? end : 0;
}

// Adds the numbers in time-wait, starting from one. Returns the number from which the next call continues; 0:
// none.
uint32_t inspect_waiting(VirtualQueuePairs& numbers, uint32_t functions, uint32_t from,
                         std::vector<QueuePairFacts>& found) {
  for (uint32_t looked = 0; looked < most_indices; ++looked) {
    const auto waiting = numbers.waiting_from(from);
    if (!waiting)
      return 0;
    if (found.size() == most_inspected)
      return waiting->number;
    if ((functions >> waiting->underlying_function & 1) != 0)
      found.push_back({.number = waiting->queue_pair,
                       .virtual_queue_pair = waiting->number,
                       .time_wait_left = waiting->microseconds_left,
                       .underlying_function = waiting->underlying_function});
    from = waiting->number + 1;
  }
  return from;
}

} // namespace

uint32_t inspect_queue_pairs(QueuePairStateCache& queue_pairs, VirtualQueuePairs& numbers,
                             const Inspection& inspection, std::vector<QueuePairFacts>& found) {
  const uint32_t indices = queue_pairs.indices();
  if (inspection.from < indices) {
    const uint32_t next = inspect(queue_pairs, inspection, found, [&](uint32_t index) {
      if (const auto copy = queue_pairs.copy_at(index))
        found.push_back(facts_of(*copy));
    });
    if (next != 0)
      return next;
  }
  const uint32_t from = inspection.from > indices ? inspection.from - indices : 0;
  const uint32_t next = inspect_waiting(numbers, inspection.functions, from, found);
  return next != 0 ? indices + next : 0;
}

uint32_t inspect_regions(KeyTable& keys, const Inspection& inspection, std::vector<RegionFacts>& found) {
  return inspect(keys, inspection, found, [&](uint32_t index) {
    if (const auto facts = keys.facts_at(index))
      found.push_back(*facts);
  });
}

} // namespace fpga_verbs::hca
