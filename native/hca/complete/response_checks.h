#pragma once

#include "spec/enums.h"
#include "wire/packet_parse.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The meanings of an AETH (InfiniBand volume 1, 9.7.5.2).
enum class AcknowledgeKind : uint8_t {
  acknowledged,
  receiver_not_ready,
  sequence_error,
  failed, // a NAK that is not retried, or what is reserved
};
AcknowledgeKind acknowledge_kind_of(uint8_t syndrome);

// The status of a work request after a syndrome that is AcknowledgeKind::failed.
spec::CompletionStatus status_of_syndrome(uint8_t syndrome);

// The READ or atomic that an answer must match.
struct AnsweredRequest {
  spec::Opcode opcode{};
  uint32_t first_psn = 0;
  uint32_t last_psn = 0;
  uint32_t length = 0;      // bytes
  uint32_t mtu = 0;         // bytes
  bool was_resumed = false; // at the PSN of the answer, after a retry
};

// Whether a READ response or atomic response, at a PSN of the request, is the expected one (InfiniBand volume
// 1, 9.7.5.1 and 9.9.2): its operation, its position among the responses, its length, and an AETH that
// acknowledges. After a retry a READ resumes with a first or only response; late ones of the earlier request
// also match.
bool is_proper_answer(const AnsweredRequest& request, const wire::ParsedPacket& answer);

} // namespace fpga_verbs::hca
