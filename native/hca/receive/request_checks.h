#pragma once

#include "hca/queue_pair/queue_pair_parts.h"
#include "hca/respond/responder_resources.h"
#include "spec/contexts.h"
#include "spec/enums.h"
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

// The checks of a responder (InfiniBand volume 1, 9.7.4 and 9.8.2): PSN, order of opcodes, lengths, rights of
// the queue pair, responder resources. Keys are checked later, when memory is accessed. The packet is a
// request of the queue pair's service, or has a reserved opcode of it. If a packet of an unreliable service
// is dropped, the message in progress is lost.
RequestJudgement judge_request(const spec::QueuePairControl& control, const ReadTransportContext& transport,
                               const wire::ParsedPacket& packet, const ResponderResources& resources);

} // namespace fpga_verbs::hca
