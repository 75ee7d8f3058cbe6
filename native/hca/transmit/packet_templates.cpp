#include "hca/transmit/packet_templates.h"

#include "hca/queue_pair/transport_context.h"

namespace fpga_verbs::hca {

void PacketTemplates::connect(Entry& entry, uint32_t queue_pair_number,
                              const spec::QueuePairControl& control) {
  const TransportPath path(control);
  const spec::AddressVector peer = path.address_vector();
  const wire::PacketSource source =
      attributes_.source(control.underlying_function(), peer, control.partition_key_index());
  entry = {.connected = queue_pair_number,
           .version = attributes_.version(),
           .packet_template = wire::make_packet_template(peer, source, path.number(), path.peer_number())};
}

wire::PacketTemplate& PacketTemplates::of(uint32_t queue_pair_number, const spec::QueuePairControl& control,
                                          const spec::AddressVector& destination,
                                          uint32_t destination_queue_pair) {
  const wire::PacketSource source =
      attributes_.source(control.underlying_function(), destination, control.partition_key_index());
  Entry& entry = cache_[queue_pair_number % cached];
  if (entry.queue_pair_number != queue_pair_number ||
      entry.destination_queue_pair != destination_queue_pair || entry.destination != destination ||
      entry.source != source)
    entry = {.queue_pair_number = queue_pair_number,
             .destination_queue_pair = destination_queue_pair,
             .destination = destination,
             .source = source,
             .packet_template =
                 wire::make_packet_template(destination, source, queue_pair_number, destination_queue_pair)};
  return entry.packet_template;
}

} // namespace fpga_verbs::hca
