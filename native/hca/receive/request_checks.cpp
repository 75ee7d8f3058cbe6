#include "hca/receive/request_checks.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/memory/memory_translation.h"

#include <optional>

namespace fpga_verbs::hca {

namespace {

using spec::ReceiveMessage;
using spec::Syndrome;

constexpr uint32_t atomic_bytes = 8;

bool may(const spec::QueuePairControl& control, spec::AccessFlag flag) {
  return (control.access_flags() & right(flag)) != 0;
}

bool is_proper_send(const TransportResponder& responder, const wire::ParsedPacket& packet) {
  const spec::PacketOpcodeTraits& traits = packet.traits();
  const uint64_t offset = traits.begins_message() ? 0 : responder.current_offset();
  return offset + packet.payload_bytes <= spec::message_bytes_maximum;
}

// Distance of two counts modulo 256.
constexpr uint32_t outstanding(uint32_t done, uint32_t begun) { return (begun - done) & 0xff; }

// Whether the responder has resources for one more READ or atomic.
bool has_resources(const ReadTransportContext& transport) {
  const TransportResponder& responder = transport.responder();
  return outstanding(responder.read_atomic_head(), responder.read_atomic_tail()) <
         transport.path().responder_resources();
}

// Whether a packet that is in its turn may be executed.
bool is_valid(const spec::QueuePairControl& control, const ReadTransportContext& transport,
              const wire::ParsedPacket& packet) {
  const spec::PacketOpcodeTraits& traits = packet.traits();
  const TransportResponder& responder = transport.responder();
  const uint32_t mtu = transport.path().mtu_bytes();
  switch (traits.operation) {
  case spec::PacketOperation::send:
    return has_proper_payload(packet, mtu) && is_proper_send(responder, packet);
  case spec::PacketOperation::rdma_write:
    return may_be_written(control) && has_proper_payload(packet, mtu) &&
           is_proper_write(message_in_progress(responder), packet);
  case spec::PacketOperation::rdma_read_request:
    return may(control, spec::AccessFlag::remote_read) &&
           packet.fields.dma_length <= spec::message_bytes_maximum && has_resources(transport);
  case spec::PacketOperation::compare_and_swap:
  case spec::PacketOperation::fetch_and_add:
    return may(control, spec::AccessFlag::remote_atomic) &&
           packet.fields.virtual_address % atomic_bytes == 0 && has_resources(transport);
  case spec::PacketOperation::rdma_read_response:
  case spec::PacketOperation::acknowledge:
  case spec::PacketOperation::atomic_acknowledge:
  case spec::PacketOperation::congestion_notification:
  case spec::PacketOperation::reserved:
    return false;
  }
  return false;
}

// Whether a READ requests a part of the original range at its PSN.
bool is_part_of(const ResponderResource& earlier, const wire::ParsedPacket& packet, uint32_t mtu) {
  const wire::PacketFields& fields = packet.fields;
  const auto begun = static_cast<uint32_t>(psn_distance(earlier.psn, fields.packet_sequence_number));
  const uint64_t offset = fields.virtual_address - earlier.address;
  return earlier.is_read && fields.remote_key == earlier.remote_key && offset <= earlier.length &&
         fields.dma_length <= earlier.length - offset &&
         begun + packets_of(fields.dma_length, mtu) <= earlier.packets;
}

// A duplicate of a READ or atomic has to be one of those that the requester can have outstanding; as many
// READs as that are answered at a time.
bool is_repeatable(const spec::QueuePairControl& control, const ReadTransportContext& transport,
                   const wire::ParsedPacket& packet, const ResponderResources& resources) {
  switch (packet.traits().operation) {
  case spec::PacketOperation::send:
  case spec::PacketOperation::rdma_write:
    return true;
  case spec::PacketOperation::rdma_read_response:
  case spec::PacketOperation::acknowledge:
  case spec::PacketOperation::atomic_acknowledge:
  case spec::PacketOperation::congestion_notification:
  case spec::PacketOperation::reserved:
    return false;
  case spec::PacketOperation::rdma_read_request:
  case spec::PacketOperation::compare_and_swap:
  case spec::PacketOperation::fetch_and_add:
    break;
  }
  const TransportResponder& responder = transport.responder();
  const ResponderResource* const earlier =
      resources.find(packet.destination_queue_pair, responder, packet.fields.packet_sequence_number,
                     transport.path().responder_resources());
  if (earlier == nullptr)
    return false;
  if (packet.traits().operation != spec::PacketOperation::rdma_read_request)
    return !earlier->is_read;
  return may(control, spec::AccessFlag::remote_read) &&
         is_part_of(*earlier, packet, transport.path().mtu_bytes()) &&
         outstanding(responder.repeated_reads_answered(), responder.repeated_reads_accepted()) <
             spec::read_atomic_maximum;
}

RequestJudgement judge_reliable(const spec::QueuePairControl& control, const ReadTransportContext& transport,
                                const wire::ParsedPacket& packet, const ResponderResources& resources) {
  const TransportResponder& responder = transport.responder();
#ifdef FPGA_VERBS_MUTANT_EXPECTED_PSN_UNCHECKED
  const int32_t ahead = 0;
#else
  const int32_t ahead = psn_distance(responder.expected_psn(), packet.fields.packet_sequence_number);
#endif
  if (ahead > 0)
    return responder.nak_sent() != 0
               ? RequestJudgement{}
               : RequestJudgement{.verdict = RequestVerdict::refuse, .syndrome = Syndrome::sequence_error};
  if (ahead < 0)
    return {.verdict = is_repeatable(control, transport, packet, resources) ? RequestVerdict::repeat
                                                                            : RequestVerdict::drop};
  if (!is_in_turn(packet.traits(), responder.current_message()) || !is_valid(control, transport, packet))
    return {.verdict = RequestVerdict::refuse, .syndrome = Syndrome::invalid_request};
  return {.verdict = RequestVerdict::execute};
}

// A message may start with any PSN; a packet that does not follow the previous one belongs to a message with
// a lost packet (9.8.2).
RequestJudgement judge_unreliable(const spec::QueuePairControl& control,
                                  const ReadTransportContext& transport, const wire::ParsedPacket& packet) {
  const TransportResponder& responder = transport.responder();
  const spec::PacketOpcodeTraits& traits = packet.traits();
  const bool follows = packet.fields.packet_sequence_number == responder.expected_psn() &&
                       continues(traits, responder.current_message());
  const bool is_executed = (traits.begins_message() || follows) && is_valid(control, transport, packet);
  return {.verdict = is_executed ? RequestVerdict::execute : RequestVerdict::drop};
}

} // namespace

RequestJudgement judge_request(const spec::QueuePairControl& control, const ReadTransportContext& transport,
                               const wire::ParsedPacket& packet, const ResponderResources& resources) {
  return control.service_type() == spec::ServiceType::reliable_connection
             ? judge_reliable(control, transport, packet, resources)
             : judge_unreliable(control, transport, packet);
}

} // namespace fpga_verbs::hca
