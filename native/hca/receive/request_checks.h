#pragma once

#include "hca/memory/access_rights.h"
#include "hca/queue_pair/queue_pair_parts.h"
#include "hca/respond/responder_resources.h"
#include "spec/contexts.h"
#include "spec/enums.h"
#include "spec/packet_opcodes.h"
#include "spec/parameters.h"
#include "wire/packet_parse.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The action of receive for a request packet.
enum class RequestVerdict : uint8_t {
  execute,
  repeat, // a duplicate: it is answered again
  refuse, // a NAK
  drop,   // in silence
};

struct RequestJudgement {
  RequestVerdict verdict = RequestVerdict::drop;
  spec::Syndrome syndrome = spec::Syndrome::acknowledge; // refuse: of the NAK
};

// The message that is being received.
struct MessageInProgress {
  spec::ReceiveMessage kind = spec::ReceiveMessage::none;
  uint32_t offset = 0; // of its next packet
  uint32_t length = 0; // RDMA
};

inline MessageInProgress message_in_progress(const TransportResponder& responder) {
  return {.kind = responder.current_message(),
          .offset = responder.current_offset(),
          .length = responder.current_length()};
}

// Parts of the checks below, also for a packet that follows one which was judged.

inline bool may_be_written(const spec::QueuePairControl& control) {
  return (control.access_flags() & right(spec::AccessFlag::remote_write)) != 0;
}

// First and middle packets fill the path MTU; a last packet is not empty.
inline bool has_proper_payload(const wire::ParsedPacket& packet, uint32_t mtu) {
  switch (packet.traits().position) {
  case spec::PacketPosition::first:
  case spec::PacketPosition::middle:
    return packet.payload_bytes == mtu;
  case spec::PacketPosition::last:
    return packet.payload_bytes > 0 && packet.payload_bytes <= mtu;
  case spec::PacketPosition::only:
    return packet.payload_bytes <= mtu;
  }
  return false;
}

// A packet of a SEND or RDMA WRITE that does not start a message must belong to the one in progress.
inline bool continues(const spec::PacketOpcodeTraits& traits, spec::ReceiveMessage message) {
  return message == (traits.operation == spec::PacketOperation::send ? spec::ReceiveMessage::send
                                                                     : spec::ReceiveMessage::rdma_write);
}

// Whether the packet fits the position in its message.
inline bool is_in_turn(const spec::PacketOpcodeTraits& traits, spec::ReceiveMessage message) {
  return traits.begins_message() ? message == spec::ReceiveMessage::none : continues(traits, message);
}

// Whether the length in the first packet of an RDMA WRITE is possible, and the packets keep it.
inline bool is_proper_write(const MessageInProgress& message, const wire::ParsedPacket& packet) {
  const spec::PacketOpcodeTraits& traits = packet.traits();
  const bool begins = traits.begins_message();
  const uint64_t arrived = uint64_t{begins ? 0 : message.offset} + packet.payload_bytes;
  const uint64_t length = begins ? packet.fields.dma_length : message.length;
  return length <= spec::message_bytes_maximum &&
         (traits.ends_message() ? arrived == length : arrived < length);
}

// The checks of a responder (InfiniBand volume 1, 9.7.4 and 9.8.2): PSN, order of opcodes, lengths, rights of
// the queue pair, responder resources. Keys are checked later, when memory is accessed. The packet is a
// request of the queue pair's service, or has a reserved opcode of it. If a packet of an unreliable service
// is dropped, the message in progress is lost.
RequestJudgement judge_request(const spec::QueuePairControl& control, const ReadTransportContext& transport,
                               const wire::ParsedPacket& packet, const ResponderResources& resources);

} // namespace fpga_verbs::hca
