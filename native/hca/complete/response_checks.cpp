#include "hca/complete/response_checks.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/send_queue/send_work_request.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

using spec::CompletionStatus;
using spec::Syndrome;

constexpr uint8_t kind_bits = 0xe0; // the highest is reserved

bool is_in_place(const AnsweredRequest& request, const wire::ParsedPacket& answer) {
  const uint32_t psn = answer.fields.packet_sequence_number;
  const spec::PacketOpcodeTraits& traits = answer.traits();
  const bool is_first = psn == request.first_psn;
  const bool begins = is_first || (request.was_resumed && traits.begins_message());
  return traits.begins_message() == begins && traits.ends_message() == (psn == request.last_psn);
}

uint64_t expected_bytes(const AnsweredRequest& request, uint32_t psn) {
  if (is_atomic(request.opcode))
    return 0; // what it found lies in a header
  const uint64_t offset = uint64_t{(psn - request.first_psn) & psn_mask} * request.mtu;
  return std::min<uint64_t>(request.mtu, request.length - offset);
}

} // namespace

AcknowledgeKind acknowledge_kind_of(uint8_t syndrome) {
  const auto kind = static_cast<Syndrome>(syndrome & kind_bits);
  if (kind == Syndrome::acknowledge)
    return AcknowledgeKind::acknowledged;
  if (kind == Syndrome::receiver_not_ready)
    return AcknowledgeKind::receiver_not_ready;
  return static_cast<Syndrome>(syndrome) == Syndrome::sequence_error ? AcknowledgeKind::sequence_error
                                                                     : AcknowledgeKind::failed;
}

CompletionStatus status_of_syndrome(uint8_t syndrome) {
  switch (static_cast<Syndrome>(syndrome)) {
  case Syndrome::invalid_request:
    return CompletionStatus::remote_invalid_request_error;
  case Syndrome::remote_access_error:
    return CompletionStatus::remote_access_error;
  case Syndrome::remote_operational_error:
    return CompletionStatus::remote_operation_error;
  default:
    return CompletionStatus::bad_response_error;
  }
}

bool is_proper_answer(const AnsweredRequest& request, const wire::ParsedPacket& answer) {
  const spec::PacketOpcodeTraits& traits = answer.traits();
  const bool answers_atomic = traits.operation == spec::PacketOperation::atomic_acknowledge;
  return answers_atomic == is_atomic(request.opcode) && is_in_place(request, answer) &&
         answer.payload_bytes == expected_bytes(request, answer.fields.packet_sequence_number) &&
         (!traits.has(spec::ExtendedHeader::acknowledge) ||
          acknowledge_kind_of(answer.fields.syndrome) == AcknowledgeKind::acknowledged);
}

} // namespace fpga_verbs::hca
