// Receive work requests of a queue pair that failed or ends.
#include "hca/receive/dma_validation.h"

namespace fpga_verbs::hca {

namespace {

using spec::ReceiveAction;

} // namespace

// Completes the oldest receive work request that is taken and not completed.
DmaValidation::Progress DmaValidation::flush(const Owner& owner) {
  const auto found = queue_pairs_.find(owner.underlying_function, owner.queue_pair_number);
  const uint32_t number = found->responder.completed();
  if (number == found->responder.receive_head())
    return Progress::done;
  flush_one(owner, number);
  return Progress::more;
}

// A packet dropped because its queue pair is in ERR, reset or destroyed may have taken a work request of a
// shared queue. If an earlier message had taken it before, its completion belongs to the first packet of that
// message.
void DmaValidation::flush_taken(const Owner& owner, const spec::ReceiveUnit& unit) {
  if (unit.action() != ReceiveAction::send && unit.action() != ReceiveAction::rdma_write)
    return;
  const Packet& packet = packets_[static_cast<uint16_t>(unit.packet())];
  const spec::PacketOpcodeTraits& traits = packet.parsed.traits();
  const bool takes =
      unit.action() == ReceiveAction::send ? traits.begins_message() : traits.completes_receive();
#ifdef FPGA_VERBS_MUTANT_TAKEN_SHARED_RECEIVE_LOST
  return;
#endif
  if (!takes || packet.receive_kept)
    return;
  const ReceiveQueueState& responder =
      *queue_pairs_.responder(owner.underlying_function, owner.queue_pair_number);
  if (responder.receive_open() != 0 && responder.completed() != packet.receive_sequence_number)
    flush_one(owner, responder.completed());
  flush_one(owner, packet.receive_sequence_number);
}

DmaValidation::Progress DmaValidation::flush_shared(const Owner& owner) {
  ReceiveQueueState& responder = *queue_pairs_.responder(owner.underlying_function, owner.queue_pair_number);
  if (responder.receive_open() != 0) {
    flush_one(owner, responder.completed());
    return Progress::more;
  }
  if (responder.last_entry_reached() != 0)
    return Progress::done;
  responder.set_last_entry_reached(1);
  spec::EventUnit event;
  event.set_type(spec::EventType::queue_pair_last_work_queue_entry_reached);
  event.set_underlying_function(owner.underlying_function);
  event.set_object(owner.queue_pair_number);
  events_.report(event);
  return Progress::done;
}

} // namespace fpga_verbs::hca
