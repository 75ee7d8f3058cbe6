#include "hca/receive/dma_validation.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/respond/negative_acknowledge.h"
#include "spec/byte_order.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace fpga_verbs::hca {

namespace {

using spec::AccessFlag;
using spec::AnswerKind;
using spec::CompletionStatus;
using spec::QueuePairState;
using spec::ReceiveAction;
using spec::Syndrome;

constexpr auto acknowledge_syndrome = static_cast<uint32_t>(Syndrome::acknowledge_without_credits);

// Origin of a datagram.
void name_source(const wire::ParsedPacket& parsed, spec::CompletionQueueEntry& entry) {
  entry.set_with_global_route_header(parsed.framing != wire::PacketFraming::infiniband_local ? 1 : 0);
  entry.set_source_queue_pair(parsed.fields.source_queue_pair);
  entry.set_service_level(parsed.service_level);
  entry.set_source_local_identifier(parsed.source_local_identifier);
  uint64_t mac = 0;
  std::memcpy(&mac, parsed.source_mac.data(), parsed.source_mac.size());
  entry.set_source_mac_low(static_cast<uint32_t>(mac));
  entry.set_source_mac_high(static_cast<uint32_t>(mac >> 32));
}

} // namespace

DmaValidation::DmaValidation(const HcaParameters& parameters, Counters& counters, PacketMemory& packets,
                             QueuePairStateCache& queue_pairs,
                             const SharedReceiveQueues& shared_receive_queues, MemoryTranslation& translation,
                             MemoryAccess& memory, ReceiveQueueEntryHandler& receive_entries,
                             CompletionQueue& completion_queue, EventPort& events, ResponseReads& reads,
                             ResponderResources& responder_resources,
                             DataLink<spec::ReceiveUnit>& requests_placed,
                             DataLink<spec::AnswerUnit>& answers)
    : parameters_(parameters), counters_(counters), packets_(packets), queue_pairs_(queue_pairs),
      shared_receive_queues_(shared_receive_queues), translation_(translation), windows_(translation.keys()),
      memory_(memory), receive_entries_(receive_entries), completion_queue_(completion_queue),
      events_(events), reads_(reads), responder_resources_(responder_resources),
      requests_placed_(requests_placed), answers_(answers),
      queue_({.entries = entries,
              .lists = entries,
              .underlying_functions = parameters.underlying_functions,
              .ready_on_push = true}) {}

bool DmaValidation::step() {
  const bool resumed = resume_waiting() || resume_waiting_for_keys();
  const bool passed = queue_.empty() && pass();
  const bool taken = !passed && take_placed();
  return (passed || work() || taken || resumed) && (queue_.lists_ready().any() || !requests_placed_.empty() ||
                                                    waiting_.any() || waiting_for_keys_.any());
}

// A READ that waits for a place may try again, in turn.
bool DmaValidation::resume_waiting() {
  if (!waiting_.any())
    return false;
  if (!reads_.has_free()) {
    reads_.want();
    return false;
  }
  resumed_ = static_cast<uint16_t>(waiting_.find_next(resumed_));
  waiting_.clear(resumed_);
  queue_.mark_ready(queue_.head(resumed_));
  return true;
}

// A key that a unit waits for may be idle: all waiting units check.
bool DmaValidation::resume_waiting_for_keys() {
  if (!waiting_for_keys_.any() || idle_seen_ == translation_.keys().idle_count())
    return false;
  while (waiting_for_keys_.any())
    queue_.mark_ready(queue_.head(static_cast<uint16_t>(waiting_for_keys_.take_first())));
  return true;
}

// Stores nothing while no unit waits: the unit bypasses an empty queue, in RTL too. Stores units that have
// more to do or must wait.
bool DmaValidation::pass() {
  if (requests_placed_.empty() || !answers_.has_credit())
    return false;
  begin(requests_placed_.front());
  requests_placed_.pop();
  return true;
}

DmaValidation::Taken DmaValidation::take_at_once(const spec::ReceiveUnit& unit) {
  if (!queue_.empty() || !answers_.has_credit())
    return Taken::no;
  return begin(unit) == Progress::done ? Taken::done : Taken::more;
}

DmaValidation::TakenTrain DmaValidation::take_train(std::span<const spec::ReceiveUnit> train) {
  TakenTrain taken;
  if (!queue_.empty())
    return taken;
  const uint32_t number = train.front().queue_pair_number();
  const auto found = queue_pairs_.find(train.front().underlying_function(), number);
  std::optional<Owner> owner;
  if (executes(found))
    owner = owner_of(train.front(), found->control);
  size_t ended = 0;
  takes_train_ = parameters_.acknowledge_coalescing;
  // A unit has at most one answer, and a credit is available for it and for the acknowledge that is kept.
  while (taken.units != train.size() && answers_.has_credit(acknowledge_ ? 2 : 1)) {
    if (owner && owner->is_reliable && executes(found)) {
      const size_t answers = answers_.credits() - (acknowledge_ ? 1 : 0);
      const auto rest = train.subspan(taken.units, std::min(train.size() - taken.units, answers));
      const size_t placed = place_together(*owner, rest);
      taken.units += placed;
      ended += placed;
      if (placed != 0)
        continue;
    }
    const spec::ReceiveUnit& unit = train[taken.units++];
    const Progress progress = work_on(unit, found, owner);
    if (progress != Progress::done) {
      const auto pushed = queue_.push(number, unit, unit.underlying_function());
      let_wait(progress, pushed.list, pushed.entry);
      taken.more = true;
      break;
    }
    ++ended;
  }
  takes_train_ = false;
  send_acknowledge();
  queue_pairs_.unpin(number, ended);
  return taken;
}

DmaValidation::Progress DmaValidation::begin(const spec::ReceiveUnit& unit) {
  const Progress progress = work_on(unit);
  if (progress != Progress::done) {
    const auto pushed = queue_.push(unit.queue_pair_number(), unit, unit.underlying_function());
    let_wait(progress, pushed.list, pushed.entry);
  }
  return progress;
}

bool DmaValidation::take_placed() {
  if (requests_placed_.empty() || queue_.inbound_credits() == 0)
    return false;
  const spec::ReceiveUnit& unit = requests_placed_.front();
  queue_.push(unit.queue_pair_number(), unit, unit.underlying_function());
  requests_placed_.pop();
  return true;
}

// A unit has at most one answer, and a credit is available for it.
bool DmaValidation::work() {
  const uint16_t list = queue_.arbitrate(answers_.has_credit() ? 1 : 0);
  if (list == no_list)
    return false;
  const Progress progress = work_on(queue_.front(list));
  if (progress == Progress::done)
    queue_.pop_front(list);
  else
    let_wait(progress, list, queue_.head(list));
  return true;
}

// The first unit of a list, in this entry, waits if it must.
void DmaValidation::let_wait(Progress progress, uint16_t list, uint16_t entry) {
  if (progress != Progress::waits && progress != Progress::waits_for_key)
    return;
  queue_.mark_not_ready(entry);
  (progress == Progress::waits ? waiting_ : waiting_for_keys_).set(list);
}

DmaValidation::Progress DmaValidation::work_on(const spec::ReceiveUnit& unit) {
  std::optional<Owner> owner;
  const Progress progress =
      work_on(unit, queue_pairs_.find(unit.underlying_function(), unit.queue_pair_number()), owner);
  if (progress == Progress::done)
    queue_pairs_.unpin(unit.queue_pair_number());
  return progress;
}

// The owner is filled in once for a train. A unit that is done leaves its pin to the caller.
DmaValidation::Progress DmaValidation::work_on(const spec::ReceiveUnit& unit,
                                               const QueuePairStateCache::Found& found,
                                               std::optional<Owner>& owner) {
  const bool flushes = unit.action() == ReceiveAction::flush;
  const bool is_wanted =
      flushes ? found && found->control.destroying() == 0 && found->control.state() == QueuePairState::error
              : executes(found);
  Progress progress = Progress::done;
  if (is_wanted) {
    if (!owner)
      owner = owner_of(unit, found->control);
    progress = !flushes                      ? execute(*owner, unit)
               : owner->shares_receive_queue ? flush_shared(*owner)
                                             : flush(*owner);
  } else if (found && !flushes && found->control.shared_receive_queue() != 0) {
    flush_taken(owner_of(unit, found->control), unit);
  }
  if (progress == Progress::done)
    release(unit);
  return progress;
}

bool DmaValidation::executes(const QueuePairStateCache::Found& found) {
  return found && found->control.destroying() == 0 && found->control.state() != QueuePairState::error;
}

DmaValidation::Owner DmaValidation::owner_of(const spec::ReceiveUnit& unit,
                                             const spec::QueuePairControl& control) const {
  Owner owner{.underlying_function = unit.underlying_function(),
              .queue_pair_number = unit.queue_pair_number(),
              .protection_domain = control.protection_domain(),
              .receive_protection_domain = control.protection_domain(),
              .receive_completion_queue = control.receive_completion_queue(),
              .partition_key_index = static_cast<uint16_t>(control.partition_key_index()),
              .port = static_cast<uint8_t>(control.port()),
              .is_reliable = control.service_type() == spec::ServiceType::reliable_connection,
              .shares_receive_queue = control.shared_receive_queue() != 0};
  if (owner.shares_receive_queue)
    if (const SharedReceiveQueue* const shared =
            shared_receive_queues_.find(owner.underlying_function, control.shared_receive_queue()))
      owner.receive_protection_domain = shared->protection_domain;
  return owner;
}

DmaValidation::Progress DmaValidation::execute(const Owner& owner, const spec::ReceiveUnit& unit) {
  const auto handle = static_cast<uint16_t>(unit.packet());
  const Packet& packet = packets_[handle];
  switch (unit.action()) {
  case ReceiveAction::send:
    return place_send(owner, packet, handle);
  case ReceiveAction::rdma_write:
    place_write(owner, packet, handle);
    break;
  case ReceiveAction::rdma_read:
    return begin_read(owner, packet);
  case ReceiveAction::atomic:
    execute_atomic(owner, packet);
    break;
  case ReceiveAction::acknowledge:
    acknowledge(owner, packet);
    break;
  case ReceiveAction::refuse:
    refuse(owner, packet.answer_psn, packet.message_sequence_number, packet.syndrome);
    break;
  case ReceiveAction::flush:
    break;
  }
  return Progress::done;
}

// SEND.

DmaValidation::Progress DmaValidation::place_send(const Owner& owner, const Packet& packet, uint16_t handle) {
  const ReceiveEntry& entry = receive_entries_.entry(packet.receive_entry);
  if (packet.first && owner.shares_receive_queue)
    open_receive(owner, packet);
  if (is_refused(owner, packet)) {
    refuse_message(owner, packet, CompletionStatus::local_length_error);
    return Progress::done;
  }
  if (entry.refusal != spec::Refusal::none)
    fail_receive(owner, packet, CompletionStatus::local_queue_pair_operation_error,
                 Syndrome::remote_operational_error);
  else if (uint64_t{packet.message_offset} + packet.payload_bytes > entry.capacity)
    refuse_length(owner, packet);
  else if (scatter(owner, packet, handle) != AccessFault::none)
    fail_receive(owner, packet, CompletionStatus::local_protection_error, Syndrome::remote_operational_error);
  else
    switch (invalidate(owner, packet)) {
    case MemoryWindows::Outcome::waits:
      return Progress::waits_for_key;
    case MemoryWindows::Outcome::done:
      finish(owner, packet);
      break;
    case MemoryWindows::Outcome::refused:
      refuse_invalidate(owner, packet);
      break;
    }
  return Progress::done;
}

// The receive is too small. With a service that answers, that is an invalid request, and both queue pairs
// fail. With one that does not, a peer cannot fail the queue pair: only the receive fails.
void DmaValidation::refuse_length(const Owner& owner, const Packet& packet) {
  if (owner.is_reliable)
    fail_receive(owner, packet, CompletionStatus::local_length_error, Syndrome::invalid_request);
  else
    refuse_message(owner, packet, CompletionStatus::local_length_error);
}

// Invalidates the key that the packet names, if any, before the completion that reports it.
MemoryWindows::Outcome DmaValidation::invalidate(const Owner& owner, const Packet& packet) {
  if (!packet.parsed.traits().has(spec::ExtendedHeader::invalidate))
    return MemoryWindows::Outcome::done;
  idle_seen_ = translation_.keys().idle_count();
  return windows_.invalidate({.underlying_function = owner.underlying_function,
                              .queue_pair_number = owner.queue_pair_number,
                              .protection_domain = owner.protection_domain},
                             packet.parsed.fields.remote_key);
}

// The message itself has arrived and is acknowledged, but its invalidate fails (InfiniBand volume 1, 9.9.3, a
// responder's class J error).
void DmaValidation::refuse_invalidate(const Owner& owner, const Packet& packet) {
  complete(owner, packet, CompletionStatus::remote_invalid_request_error);
  acknowledge(owner, packet);
  enter_error(owner, spec::EventType::queue_pair_access_error, packet.answer_psn);
}

// Writes the payload to its entries of the scatter list; entries of length 0 are skipped.
AccessFault DmaValidation::scatter(const Owner& owner, const Packet& packet, uint16_t handle) {
  const ReceiveEntry& receive = receive_entries_.entry(packet.receive_entry);
  const uint8_t* payload = packets_.payload(handle).data();
  const uint64_t begin = packet.message_offset;
  const uint64_t end = begin + packet.payload_bytes;
  uint64_t entry_begin = 0;
  for (unsigned index = 0; index < receive.scatter_count && entry_begin < end; ++index) {
    const spec::GatherEntry& entry = receive.scatter[index];
    const uint64_t entry_end = entry_begin + entry.length();
    const uint64_t from = std::max(begin, entry_begin);
    const uint64_t to = std::min(end, entry_end);
    if (from < to) {
      const AccessFault fault = memory_.write({.underlying_function = owner.underlying_function,
                                               .protection_domain = owner.receive_protection_domain,
                                               .key = entry.local_key(),
                                               .address = entry.address() + (from - entry_begin),
                                               .length = to - from,
                                               .rights = right(AccessFlag::local_write)},
                                              payload + (from - begin));
      if (fault != AccessFault::none)
        return fault;
    }
    entry_begin = entry_end;
  }
  return AccessFault::none;
}

// RDMA.

// The whole message.
KeyAccess DmaValidation::access_of(const Owner& owner, const Packet& packet) const {
  return {.underlying_function = owner.underlying_function,
          .protection_domain = owner.protection_domain,
          .key = packet.remote_key,
          .address = packet.remote_address,
          .length = packet.message_length,
          .rights = right(AccessFlag::remote_write),
          .queue_pair_number = owner.queue_pair_number};
}

// Checks the whole message at its first packet, and the part of each packet again at the write, because the
// key may have been invalidated meanwhile.
void DmaValidation::place_write(const Owner& owner, const Packet& packet, uint16_t handle) {
  if (is_refused(owner, packet)) {
    refuse_message(owner, packet, CompletionStatus::remote_access_error);
    return;
  }
  KeyAccess access = access_of(owner, packet);
  // The write of an only packet checks the same.
  AccessFault fault = packet.first && !packet.last ? translation_.check(access) : AccessFault::none;
  if (fault == AccessFault::none) {
    access.address += packet.message_offset;
    access.length = packet.payload_bytes;
    fault = memory_.write(access, packets_.payload(handle).data());
  }
  end_write(owner, packet, fault);
}

// The RDMA WRITEs at the beginning of a train: writes together what is of one message, as far as the memory
// behind it is contiguous and was permitted before. The first packet of several is left, because the whole
// message is checked with it. Returns the number of units that are done.
size_t DmaValidation::place_together(const Owner& owner, std::span<const spec::ReceiveUnit> train) {
  const auto packet_of = [this](const spec::ReceiveUnit& unit) -> const Packet& {
    return packets_[static_cast<uint16_t>(unit.packet())];
  };
  const auto goes_on = [&](const spec::ReceiveUnit& unit) {
    return unit.action() == ReceiveAction::rdma_write && !packet_of(unit).first;
  };
  size_t placed = 0;
  while (placed != train.size() && train[placed].action() == ReceiveAction::rdma_write) {
    const Packet& first = packet_of(train[placed]);
    if (first.first && !first.last)
      break;
    KeyAccess access = access_of(owner, first);
    access.address += first.message_offset;
    access.length = first.payload_bytes;
    size_t end = placed + 1;
    for (; !first.last && end != train.size() && goes_on(train[end]); ++end)
      access.length += packet_of(train[end]).payload_bytes;
    std::optional<uint64_t> address = memory_.find_granted(access);
    if (!address)
      break;
    while (placed != end) {
      const spec::ReceiveUnit& unit = train[placed++];
      const std::span<const uint8_t> payload = packets_.payload(static_cast<uint16_t>(unit.packet()));
      const AccessFault fault =
          memory_.write_granted(owner.underlying_function, *address, payload.data(), payload.size());
      *address += payload.size();
      end_write(owner, packet_of(unit), fault);
      release(unit);
#ifndef FPGA_VERBS_MUTANT_TRAIN_GOES_ON_AFTER_FAULT
      if (fault != AccessFault::none) [[unlikely]]
        return placed;
#endif
    }
  }
  return placed;
}

void DmaValidation::end_write(const Owner& owner, const Packet& packet, AccessFault fault) {
  if (fault == AccessFault::none)
    finish(owner, packet);
  else if (owner.is_reliable) {
    fail(owner, packet, syndrome_of(fault));
    // Receives of the queue pair's own queue are flushed with all others that it has taken.
    if (owner.shares_receive_queue && packet.parsed.traits().completes_receive())
      flush_one(owner, packet.receive_sequence_number);
  } else
    refuse_message(owner, packet, CompletionStatus::remote_access_error);
}

// Whether an earlier part of the message was refused, with a service that does not answer.
bool DmaValidation::is_refused(const Owner& owner, const Packet& packet) {
  if (owner.is_reliable)
    return false;
  TransportResponder& responder =
      queue_pairs_.transport(owner.underlying_function, owner.queue_pair_number)->responder();
  if (packet.first)
    responder.set_message_refused(0);
  return responder.message_refused() != 0;
}

// Service that does not answer: drops the rest of the message. The receive work request that it has taken
// completes in error at its end; if the end is lost, the next message takes it (see receive).
void DmaValidation::refuse_message(const Owner& owner, const Packet& packet, CompletionStatus status) {
  queue_pairs_.transport(owner.underlying_function, owner.queue_pair_number)
      ->responder()
      .set_message_refused(1);
  ++counters_.function[owner.underlying_function].requests_dropped;
  if (packet.parsed.traits().completes_receive() && !complete(owner, packet, status))
    fail(owner, packet, Syndrome::remote_operational_error);
}

// Receive completions.

void DmaValidation::flush_one(const Owner& owner, uint32_t sequence_number) {
  spec::CompletionQueueEntry entry;
  entry.set_opcode(spec::CompletionOpcode::receive);
  entry.set_status(CompletionStatus::work_request_flushed_error);
  write_completion(owner, entry, sequence_number);
}

// The work request of a shared receive queue, from the first packet of its message until its completion.
void DmaValidation::open_receive(const Owner& owner, const Packet& packet) {
  ReceiveQueueState& responder = *queue_pairs_.responder(owner.underlying_function, owner.queue_pair_number);
  responder.set_receive_open(1);
  responder.set_completed(packet.receive_sequence_number);
}

// Completes the receive work request of a packet. False: the completion queue did not accept the completion.
bool DmaValidation::complete(const Owner& owner, const Packet& packet, CompletionStatus status) {
  const spec::PacketOpcodeTraits& traits = packet.parsed.traits();
  const bool is_send = traits.operation == spec::PacketOperation::send;
  spec::CompletionQueueEntry entry;
  entry.set_opcode(is_send ? spec::CompletionOpcode::receive
                           : spec::CompletionOpcode::receive_rdma_with_immediate);
  entry.set_status(status);
  if (status == CompletionStatus::success) {
    entry.set_byte_length(is_send ? packet.message_offset + packet.payload_bytes : packet.message_length);
    entry.set_solicited(packet.parsed.fields.solicited_event ? 1 : 0);
    entry.set_with_immediate(traits.has(spec::ExtendedHeader::immediate) ? 1 : 0);
    // Opaque: the same bytes in memory as on the wire.
    entry.set_immediate_data(spec::big_endian(packet.parsed.fields.immediate_data));
    if (traits.has(spec::ExtendedHeader::invalidate)) {
      entry.set_with_invalidate(1);
      entry.set_immediate_data(packet.parsed.fields.remote_key);
    }
    if (traits.has(spec::ExtendedHeader::datagram))
      name_source(packet.parsed, entry);
  }
  return write_completion(owner, entry, packet.receive_sequence_number);
}

void DmaValidation::note_completed(const Owner& owner, ReceiveQueueState& responder,
                                   uint32_t sequence_number) {
  if (!owner.shares_receive_queue)
    responder.set_completed(sequence_number + 1);
  else if (responder.completed() == sequence_number)
    responder.set_receive_open(0);
}

// True if there was no completion queue to write to.
bool DmaValidation::write_completion(const Owner& owner, spec::CompletionQueueEntry& entry,
                                     uint32_t sequence_number) {
  entry.set_queue_pair_number(owner.queue_pair_number);
  entry.set_port(owner.port);
  entry.set_partition_key_index(owner.partition_key_index);
  entry.set_sequence_number(sequence_number);
  entry.set_work_queue(1);
  if (auto* responder = queue_pairs_.responder(owner.underlying_function, owner.queue_pair_number))
    note_completed(owner, *responder, sequence_number);
  return owner.receive_completion_queue == 0 ||
         completion_queue_.write(owner.underlying_function, owner.receive_completion_queue, entry);
}

// The payload of a SEND or RDMA WRITE is in memory: writes the completion, if any, then acknowledges.
void DmaValidation::finish(const Owner& owner, const Packet& packet) {
  if (packet.parsed.traits().completes_receive() && !complete(owner, packet, CompletionStatus::success))
    fail(owner, packet, Syndrome::remote_operational_error);
  else
    acknowledge(owner, packet);
}

// Answers.

void DmaValidation::fail_receive(const Owner& owner, const Packet& packet, CompletionStatus status,
                                 Syndrome syndrome) {
  complete(owner, packet, status);
  fail(owner, packet, syndrome);
}

// The message of this packet is incomplete: receive has counted it too early.
void DmaValidation::fail(const Owner& owner, const Packet& packet, Syndrome syndrome) {
  const bool counted = packet.last && !packet.duplicate;
  refuse(owner, packet.answer_psn, psn_add(packet.message_sequence_number, counted ? psn_mask : 0),
         static_cast<uint8_t>(syndrome));
}

// Sends a NAK on a reliable service; unless the requester must repeat the request, the queue pair then enters
// ERR.
void DmaValidation::refuse(const Owner& owner, uint32_t psn, uint32_t message_sequence_number,
                           uint8_t syndrome) {
  spec::AnswerUnit unit;
  unit.set_kind(AnswerKind::acknowledge);
  unit.set_packet_sequence_number(psn);
  unit.set_message_sequence_number(message_sequence_number);
  unit.set_syndrome(syndrome);
  if (owner.is_reliable)
    answer(owner, unit);
  if (is_fatal(syndrome))
    enter_error(owner, event_of(static_cast<Syndrome>(syndrome)), psn);
}

// The queue pair fails, and the event gives the reason, unless it failed before.
void DmaValidation::enter_error(const Owner& owner, spec::EventType type, uint32_t psn) {
  if (!queue_pairs_.enter_error(owner.underlying_function, owner.queue_pair_number))
    return;
  spec::EventUnit event;
  event.set_type(type);
  event.set_underlying_function(owner.underlying_function);
  event.set_object(owner.queue_pair_number);
  event.set_detail(psn);
  events_.report(event);
}

void DmaValidation::acknowledge(const Owner& owner, const Packet& packet) {
  if (!owner.is_reliable)
    return;
  if (parameters_.acknowledge_coalescing && !packet.last && !packet.parsed.fields.acknowledge_request)
    return;
  spec::AnswerUnit unit;
  unit.set_kind(AnswerKind::acknowledge);
  unit.set_packet_sequence_number(packet.answer_psn);
  unit.set_message_sequence_number(packet.message_sequence_number);
  unit.set_syndrome(acknowledge_syndrome);
  unit.set_queue_pair_number(owner.queue_pair_number);
  unit.set_underlying_function(owner.underlying_function);
  if (takes_train_)
    acknowledge_ = unit;
  else
    send(unit);
}

void DmaValidation::answer(const Owner& owner, spec::AnswerUnit unit) {
  send_acknowledge();
  unit.set_queue_pair_number(owner.queue_pair_number);
  unit.set_underlying_function(owner.underlying_function);
  send(unit);
}

// Before another answer of the same queue pair, or at the end of the train.
void DmaValidation::send_acknowledge() {
  if (acknowledge_)
    send(*std::exchange(acknowledge_, std::nullopt));
}

void DmaValidation::send(const spec::AnswerUnit& unit) {
  [[maybe_unused]] const bool pinned = queue_pairs_.pin(unit.queue_pair_number());
  assert(pinned);
  answers_.hand_over(unit);
}

// Packet and receive queue entry.
void DmaValidation::release(const spec::ReceiveUnit& unit) {
  if (const auto handle = static_cast<uint16_t>(unit.packet()); handle != no_packet) {
    receive_entries_.release(packets_[handle]);
    packets_.release(handle);
  }
}

} // namespace fpga_verbs::hca
