#include "hca/registers/object_inspection.h"

#include "hca/memory/key_table.h"
#include "hca/queue_pair/address_vector.h"
#include "hca/queue_pair/queue_pair_state_cache.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

constexpr uint32_t most_indices = 8192; // of a call

QueuePairFacts facts_of(const QueuePairStateCache::Copy& copy) {
  const auto& [control, requester, completion, responder] = copy.parts;
  const spec::AddressVector peer = read_address_vector(control.address_vector());
  QueuePairFacts facts{
      .number = copy.number,
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
      .destination_queue_pair = control.destination_queue_pair(),
      .destination_local_identifier = static_cast<uint16_t>(peer.destination_local_identifier()),
      .next = static_cast<uint16_t>(requester.next()),
      .posted = static_cast<uint16_t>(requester.posted()),
      .acknowledged = static_cast<uint16_t>(completion.acknowledged()),
      .receive_head = static_cast<uint16_t>(responder.receive_head()),
      .receive_tail = static_cast<uint16_t>(responder.receive_tail()),
      .next_psn = requester.next_psn(),
      .expected_psn = responder.expected_psn(),
  };
  std::ranges::copy(peer.destination_gid(), facts.destination_gid.begin());
  return facts;
}

// `add` adds the object at an index, which is there.
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

} // namespace

uint32_t inspect_queue_pairs(QueuePairStateCache& queue_pairs, const Inspection& inspection,
                             std::vector<QueuePairFacts>& found) {
  return inspect(queue_pairs, inspection, found, [&](uint32_t index) {
    if (const auto copy = queue_pairs.copy_at(index))
      found.push_back(facts_of(*copy));
  });
}

uint32_t inspect_regions(KeyTable& keys, const Inspection& inspection, std::vector<RegionFacts>& found) {
  return inspect(keys, inspection, found, [&](uint32_t index) {
    if (const auto facts = keys.facts_at(index))
      found.push_back(*facts);
  });
}

} // namespace fpga_verbs::hca
