// Requests answered with data from memory: READs and atomics.
#include "hca/receive/dma_validation.h"
#include "hca/respond/negative_acknowledge.h"

namespace fpga_verbs::hca {

namespace {

using spec::AccessFlag;
using spec::AnswerKind;

// The value that an atomic leaves in memory (InfiniBand volume 1, 9.4.5).
uint64_t result_of(const wire::PacketFields& fields, spec::PacketOperation operation, uint64_t original) {
  switch (operation) {
  case spec::PacketOperation::fetch_and_add:
    return original + fields.swap_add;
  case spec::PacketOperation::compare_and_swap:
    return original == fields.compare ? fields.swap_add : original;
  case spec::PacketOperation::send:
  case spec::PacketOperation::rdma_write:
  case spec::PacketOperation::rdma_read_request:
  case spec::PacketOperation::rdma_read_response:
  case spec::PacketOperation::acknowledge:
  case spec::PacketOperation::atomic_acknowledge:
  case spec::PacketOperation::congestion_notification:
  case spec::PacketOperation::reserved:
    break;
  }
  return original;
}

} // namespace

DmaValidation::Progress DmaValidation::begin_read(const Owner& owner, const Packet& packet) {
  const AccessFault fault = translation_.check({.underlying_function = owner.underlying_function,
                                                .protection_domain = owner.protection_domain,
                                                .key = packet.remote_key,
                                                .address = packet.remote_address,
                                                .length = packet.message_length,
                                                .rights = right(AccessFlag::remote_read),
                                                .queue_pair_number = owner.queue_pair_number});
  if (fault != AccessFault::none) {
    fail(owner, packet, syndrome_of(fault));
    return Progress::done;
  }
  const auto read = reads_.begin(
      {.address = packet.remote_address, .remote_key = packet.remote_key, .length = packet.message_length});
  if (!read)
    return Progress::waits;
  if (packet.message_length != 0)
    translation_.keys().begin_access(packet.remote_key);
  spec::AnswerUnit unit;
  unit.set_kind(AnswerKind::read);
  unit.set_duplicate(packet.duplicate ? 1 : 0);
  unit.set_packet_sequence_number(packet.answer_psn);
  unit.set_message_sequence_number(packet.message_sequence_number);
  unit.set_read(*read);
  answer(owner, unit);
  return Progress::done;
}

// A duplicate gets the result of the first request. The result is stored before the answer leaves.
void DmaValidation::execute_atomic(const Owner& owner, const Packet& packet) {
  const wire::PacketFields& fields = packet.parsed.fields;
  ResponderResource* const done = responder_resources_.find(
      owner.queue_pair_number,
      queue_pairs_.find(owner.underlying_function, owner.queue_pair_number)->transport().responder(),
      packet.answer_psn);
#ifdef FPGA_VERBS_MUTANT_ATOMIC_NOT_REPLAYED
  constexpr bool is_replayed = false;
#else
  const bool is_replayed = packet.duplicate;
#endif
  if (is_replayed) {
    if (done == nullptr)
      return;
  } else {
    uint64_t original = 0;
    const KeyAccess access{.underlying_function = owner.underlying_function,
                           .protection_domain = owner.protection_domain,
                           .key = packet.remote_key,
                           .address = packet.remote_address,
                           .length = sizeof original,
                           .rights = right(AccessFlag::remote_atomic),
                           .queue_pair_number = owner.queue_pair_number};
    AccessFault fault = memory_.read(access, &original);
    const uint64_t result = result_of(fields, packet.parsed.traits().operation, original);
    if (fault == AccessFault::none && result != original)
      fault = memory_.write(access, &result);
    if (fault != AccessFault::none) {
      fail(owner, packet, syndrome_of(fault));
      return;
    }
    if (done != nullptr)
      done->original_data = original;
  }
  spec::AnswerUnit unit;
  unit.set_kind(AnswerKind::atomic);
  unit.set_duplicate(packet.duplicate ? 1 : 0);
  unit.set_packet_sequence_number(packet.answer_psn);
  unit.set_message_sequence_number(packet.message_sequence_number);
  answer(owner, unit);
}

} // namespace fpga_verbs::hca
