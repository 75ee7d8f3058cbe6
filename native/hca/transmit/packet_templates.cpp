#include "hca/transmit/packet_templates.h"

#include "hca/queue_pair/transport_context.h"
#include "link/address.h"

#include <span>

namespace fpga_verbs::hca {

void PacketTemplates::connect(Entry& entry, uint32_t queue_pair_number,
                              const spec::QueuePairControl& control) {
  const TransportPath path(control);
  const spec::AddressVector peer = path.address_vector();
  const wire::PacketSource source =
      attributes_.source(control.underlying_function(), peer, control.partition_key_index());
  entry = {.connected = queue_pair_number,
           .version = attributes_.version(),
           .packet_template =
               template_of(wire::make_packet_template(peer, source, path.number(), path.peer_number()))};
}

// With where its packets go, so that the port need not look into each.
PacketTemplates::Template PacketTemplates::template_of(const wire::PacketTemplate& made) const {
  const std::span<const uint8_t> headers = std::span(made.request.wire).last(made.size);
  const link::Address destination = link::destination_of(attributes_.link_layer(), headers);
  return {made, attributes_.is_elsewhere(destination) ? destination : not_elsewhere};
}

PacketTemplates::Template& PacketTemplates::of(uint32_t queue_pair_number,
                                               const spec::QueuePairControl& control,
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
             .packet_template = template_of(
                 wire::make_packet_template(destination, source, queue_pair_number, destination_queue_pair))};
  return entry.packet_template;
}

} // namespace fpga_verbs::hca
