#include "hca/packet_templates.h"

#include <cstring>

namespace fpga_verbs::hca {

const PacketTemplate& PacketTemplates::of(uint32_t queue_pair_number, const spec::QueuePairControl& control) {
  spec::AddressVector destination;
  std::memcpy(&destination, control.address_vector().data(), sizeof destination);
  const PacketSource source =
      attributes_.source(control.underlying_function(), destination, control.partition_key_index());
  Entry& entry = cache_[queue_pair_number % cached];
  if (!entry.valid || entry.queue_pair_number != queue_pair_number ||
      entry.destination_queue_pair != control.destination_queue_pair() || entry.destination != destination ||
      entry.source != source)
    entry = {.valid = true,
             .queue_pair_number = queue_pair_number,
             .destination_queue_pair = control.destination_queue_pair(),
             .destination = destination,
             .source = source,
             .packet_template = make_packet_template(destination, source, queue_pair_number,
                                                     control.destination_queue_pair())};
  return entry.packet_template;
}

} // namespace fpga_verbs::hca
