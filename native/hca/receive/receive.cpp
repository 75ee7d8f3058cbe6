#include "hca/receive/receive.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/queue_pair/end_to_end_credits.h"
#include "hca/receive/global_route.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace fpga_verbs::hca {

namespace {

using spec::QueuePairState;
using spec::ReceiveAction;
using spec::ReceiveMessage;
using spec::ServiceType;
using spec::Syndrome;

bool receives(QueuePairState state) {
  return state == QueuePairState::ready_to_receive || state == QueuePairState::ready_to_send ||
         state == QueuePairState::send_queue_drained || state == QueuePairState::send_queue_error;
}

// Whether a queue pair accepts requests now.
bool accepts_requests(const QueuePairParts* queue_pair) {
  return queue_pair != nullptr && queue_pair->control.destroying() == 0 &&
         receives(queue_pair->control.state());
}

bool is_rdma_read(const wire::ParsedPacket& packet) {
  return packet.traits().operation == spec::PacketOperation::rdma_read_request;
}

bool is_message(const wire::ParsedPacket& packet) {
  return packet.traits().operation == spec::PacketOperation::send ||
         packet.traits().operation == spec::PacketOperation::rdma_write;
}

ReceiveAction action_of(const wire::ParsedPacket& packet) {
  switch (packet.traits().operation) {
  case spec::PacketOperation::send:
    return ReceiveAction::send;
  case spec::PacketOperation::rdma_write:
    return ReceiveAction::rdma_write;
  case spec::PacketOperation::rdma_read_request:
    return ReceiveAction::rdma_read;
  case spec::PacketOperation::compare_and_swap:
  case spec::PacketOperation::fetch_and_add:
    return ReceiveAction::atomic;
  case spec::PacketOperation::rdma_read_response:
  case spec::PacketOperation::acknowledge:
  case spec::PacketOperation::atomic_acknowledge:
  case spec::PacketOperation::congestion_notification:
  case spec::PacketOperation::reserved:
    break;
  }
  assert(false); // no request, or refused before
  return ReceiveAction::atomic;
}

// The packets that take a receive work request: the first of a SEND, the last of an RDMA WRITE with
// immediate.
bool takes_receive(const spec::PacketOpcodeTraits& traits) {
  return traits.operation == spec::PacketOperation::send ? traits.begins_message()
                                                         : traits.completes_receive();
}

} // namespace

Receive::Receive(const HcaParameters& parameters, Counters& counters, PacketMemory& packets,
                 QueuePairStateCache& queue_pairs, DescriptorFetch& descriptors, EventPort& events,
                 ResponderResources& resources, DataLink<spec::PacketUnit>& requests_arrived,
                 DataLink<spec::QueuePairNotice>& flushes,
                 DataLink<spec::QueuePairNotice>& descriptors_fetched,
                 DataLink<spec::QueuePairNotice>& descriptors_wanted,
                 DataLink<spec::ReceiveUnit>& requests_accepted)
    : counters_(counters), packets_(packets), queue_pairs_(queue_pairs), descriptors_(descriptors),
      events_(events), resources_(resources), requests_arrived_(requests_arrived), flushes_(flushes),
      descriptors_fetched_(descriptors_fetched), descriptors_wanted_(descriptors_wanted),
      requests_accepted_(requests_accepted), queue_({.entries = entries,
                                                     .lists = entries,
                                                     .underlying_functions = parameters.underlying_functions,
                                                     .ready_on_push = true}) {}

bool Receive::step() {
  const bool fetched = take_fetched();
  const bool taken = take_flush() || take_arrived();
  return (work() || taken || fetched) &&
         (queue_.lists_ready().any() || !requests_arrived_.empty() || !flushes_.empty() ||
          !descriptors_fetched_.empty() || descriptors_.has_doorbell());
}

// Stores nothing while no unit waits: the unit bypasses an empty queue, in RTL too.
bool Receive::take_arrived() {
  if (requests_arrived_.empty() || queue_.inbound_credits() == 0)
    return false;
  const spec::PacketUnit unit = requests_arrived_.front();
  requests_arrived_.pop();
  const bool passes = queue_.empty() && can_work();
  if (passes && work_on(unit) == Progress::done)
    return true;
  const auto pushed = queue_.push(unit.queue_pair_number(), unit, unit.underlying_function());
  if (passes)
    queue_.mark_not_ready(pushed.entry);
  return true;
}

Receive::Taken Receive::take_at_once(const spec::PacketUnit& unit) {
  if (!may_pass())
    return Taken::no;
  if (work_on(unit) != Progress::done)
    let_wait(unit);
  return Taken::done;
}

Receive::TakenTrain Receive::take_train(std::span<const spec::PacketUnit> train) {
  TakenTrain taken;
  if (!may_pass())
    return taken;
  QueuePairParts* const queue_pair = parts_of(train.front());
  requests_accepted_.begin_train();
  while (taken.units != train.size() && can_work()) {
    if (accepts_requests(queue_pair)) {
      const size_t left = std::min(train.size() - taken.units, requests_accepted_.credits());
      const size_t written = execute_writes({train.front(), *queue_pair}, train.subspan(taken.units, left));
      taken.units += written;
      if (written != 0)
        continue;
    }
    const spec::PacketUnit& unit = train[taken.units++];
    if (take_request(unit, queue_pair) != Progress::done) {
      let_wait(unit);
      break;
    }
  }
  requests_accepted_.end_train();
  return taken;
}

// The first packets of a train, as far as they are the next ones of RDMA WRITEs on a reliable connection, and
// take no receive work request. Reads and writes the responder part once. Returns their number.
size_t Receive::execute_writes(const Request& request, std::span<const spec::PacketUnit> train) {
  if (!request.is_reliable() || !may_be_written(request.control()))
    return 0;
  TransportResponder& responder = request.responder();
  const uint32_t mtu = TransportPath(request.control()).mtu_bytes();
  MessageInProgress message = message_in_progress(responder);
  uint64_t address = responder.current_address();
  uint32_t key = responder.current_key();
  uint32_t psn = responder.expected_psn();
  uint32_t sequence_number = responder.message_sequence_number();
  size_t done = 0;
  for (; done != train.size(); ++done) {
    Packet& packet = packets_[static_cast<uint16_t>(train[done].packet())];
    const wire::ParsedPacket& parsed = packet.parsed;
    const spec::PacketOpcodeTraits& traits = parsed.traits();
#ifdef FPGA_VERBS_MUTANT_PSN_OF_TRAIN_UNCHECKED
    const bool is_expected = true;
#else
    const bool is_expected = parsed.fields.packet_sequence_number == psn;
#endif
    if (!is_expected || traits.operation != spec::PacketOperation::rdma_write || traits.completes_receive() ||
        !is_in_turn(traits, message.kind) || !has_proper_payload(parsed, mtu) ||
        !is_proper_write(message, parsed))
      break;
    if (traits.begins_message()) {
      message = {.kind = ReceiveMessage::rdma_write, .length = parsed.fields.dma_length};
      address = parsed.fields.virtual_address;
      key = parsed.fields.remote_key;
    }
    if (traits.ends_message()) {
      message.kind = ReceiveMessage::none;
      sequence_number = psn_add(sequence_number, 1);
    }
    packet.first = traits.begins_message();
    packet.last = traits.ends_message();
    packet.answer_psn = psn;
    packet.message_sequence_number = sequence_number;
    packet.message_offset = message.offset;
    packet.message_length = message.length;
    packet.remote_address = address;
    packet.remote_key = key;
    message.offset += packet.payload_bytes;
    psn = psn_add(psn, 1);
    accept(train[done], ReceiveAction::rdma_write);
  }
  if (done == 0)
    return 0;
  establish(request);
  responder.set_current_message(message.kind);
  responder.set_current_offset(message.offset);
  responder.set_current_length(message.length);
  responder.set_current_address(address);
  responder.set_current_key(key);
  responder.set_expected_psn(psn);
  responder.set_message_sequence_number(sequence_number);
  responder.set_nak_sent(0);
  return done;
}

// Whether units pass by the empty queue.
bool Receive::may_pass() const {
  return queue_.empty() && descriptors_fetched_.empty() && flushes_.empty() && !descriptors_.has_doorbell() &&
         can_work();
}

void Receive::let_wait(const spec::PacketUnit& unit) {
  queue_.mark_not_ready(queue_.push(unit.queue_pair_number(), unit, unit.underlying_function()).entry);
}

// The packets that waited for a receive work request continue.
bool Receive::take_fetched() {
  if (descriptors_fetched_.empty() || !can_work())
    return false;
  const spec::QueuePairNotice notice = descriptors_fetched_.front();
  descriptors_fetched_.pop();
  const uint16_t list = queue_.find(notice.queue_pair_number());
  const spec::PacketUnit unit = queue_.front(list);
  if (go_on(unit, notice.kind() == spec::QueuePairNoticeKind::descriptor_taken) == Progress::done)
    queue_.pop_front(list);
  else
    queue_.mark_ready(queue_.head(list));
  return true;
}

// The data unit of the queue pair whose turn it is.
bool Receive::work() {
  if (!queue_.lists_ready().any() || !can_work())
    return false;
  const uint16_t list = queue_.arbitrate(1);
  switch (work_on(queue_.front(list))) {
  case Progress::done:
    queue_.pop_front(list);
    break;
  case Progress::waits:
    queue_.mark_not_ready(queue_.head(list));
    break;
  case Progress::more:
    break;
  }
  return true;
}

Receive::Progress Receive::work_on(const spec::PacketUnit& unit) {
  return unit.packet() == no_packet ? flush(unit) : take_request(unit, parts_of(unit));
}

Receive::Progress Receive::go_on(const spec::PacketUnit& unit, bool has_descriptor) {
  if (unit.packet() == no_packet)
    return has_descriptor ? Progress::more : end_flush(unit);
  QueuePairParts* const queue_pair = parts_of(unit);
  if (!accepts_requests(queue_pair)) {
    if (has_descriptor && queue_pair != nullptr && queue_pair->control.shared_receive_queue() != 0)
      pass_taken({unit, *queue_pair});
    else
      drop(unit);
    return Progress::done;
  }
  const Request request{unit, *queue_pair};
  if (has_descriptor)
    execute(request);
  else if (request.is_reliable())
    refuse(request, static_cast<uint8_t>(static_cast<uint8_t>(Syndrome::receiver_not_ready) |
                                         TransportPath(request.control()).receiver_not_ready_timer()));
  else
    lose(request);
  return Progress::done;
}

// The queue pair failed after its request; dma_validation flushes what it took from a shared queue.
void Receive::pass_taken(const Request& request) {
  Packet& packet = packets_[static_cast<uint16_t>(request.unit.packet())];
  describe(request.queue_pair, packet);
  accept(request.unit, action_of(packet.parsed));
}

void Receive::want_descriptor(const spec::PacketUnit& unit) {
  spec::QueuePairNotice notice;
  notice.set_queue_pair_number(unit.queue_pair_number());
  notice.set_underlying_function(unit.underlying_function());
  notice.set_kind(spec::QueuePairNoticeKind::take_descriptor);
  descriptors_wanted_.push(notice);
}

// Flushes.

bool Receive::take_flush() {
  if ((flushes_.empty() && !descriptors_.has_doorbell()) || queue_.inbound_credits() == 0 || !can_work())
    return false;
  if (!flushes_.empty()) {
    const spec::QueuePairNotice notice = flushes_.front();
    flushes_.pop();
    begin_flush(notice.underlying_function(), notice.queue_pair_number());
    return true;
  }
  const auto rung = descriptors_.take_doorbell();
  if (rung && !tell_credits(rung->underlying_function, rung->queue_pair_number))
    begin_flush(rung->underlying_function, rung->queue_pair_number);
  return rung.has_value();
}

// The peer has used up its credits, and the host has posted receives: an unsolicited ACK says so (InfiniBand
// volume 1, 9.7.7.2), behind the answers to all that was accepted. It may be lost, as a packet may: without a
// buffer there is none. False: the queue pair does not accept requests.
bool Receive::tell_credits(unsigned underlying_function, uint32_t queue_pair_number) {
  QueuePairParts* const found = queue_pairs_.parts(underlying_function, queue_pair_number);
  if (found == nullptr || !receives(found->control.state()))
    return false;
  if (found->control.destroying() != 0 || !owes_credits(*found))
    return true;
  const std::optional<uint16_t> handle = packets_.allocate(PacketUse::receive);
  if (!handle)
    return true;
  if (!queue_pairs_.pin(queue_pair_number)) {
    packets_.release(*handle);
    return true;
  }
  const TransportResponder& responder = found->transport().responder();
  Packet& packet = packets_[*handle];
  packet.answer_psn = psn_add(responder.expected_psn(), psn_mask);
  packet.message_sequence_number = responder.message_sequence_number();
  packet.first = true;
  packet.last = true;
  spec::PacketUnit unit;
  unit.set_packet(*handle);
  unit.set_underlying_function(underlying_function);
  unit.set_queue_pair_number(queue_pair_number);
  accept(unit, ReceiveAction::acknowledge);
  return true;
}

// A queue pair that must become quiet has nothing more to flush.
void Receive::begin_flush(unsigned underlying_function, uint32_t queue_pair_number) {
  const auto found = queue_pairs_.find(underlying_function, queue_pair_number);
  if (!found || found->control.state() != QueuePairState::error || !queue_pairs_.pin(queue_pair_number))
    return;
  spec::PacketUnit unit;
  unit.set_packet(no_packet);
  unit.set_underlying_function(underlying_function);
  unit.set_queue_pair_number(queue_pair_number);
  queue_.push(queue_pair_number, unit, underlying_function);
}

Receive::Progress Receive::flush(const spec::PacketUnit& unit) {
  const auto found = queue_pairs_.find(unit.underlying_function(), unit.queue_pair_number());
  // The remaining entries of a shared queue belong to the other queue pairs.
  if (!found || found->control.destroying() != 0 || found->control.state() != QueuePairState::error ||
      found->control.shared_receive_queue() != 0)
    return end_flush(unit);
  if (descriptors_.take_prefetched(unit.underlying_function(), unit.queue_pair_number()))
    return Progress::more;
  want_descriptor(unit);
  return Progress::waits;
}

// Queued after all accepted units, so that all taken receives complete first.
Receive::Progress Receive::end_flush(const spec::PacketUnit& unit) {
  accept(unit, ReceiveAction::flush);
  return Progress::done;
}

// Requests.

Receive::Progress Receive::take_request(const spec::PacketUnit& unit, QueuePairParts* queue_pair) {
  if (!accepts_requests(queue_pair)) {
    drop(unit);
    return Progress::done;
  }
  const Request request{unit, *queue_pair};
  const wire::ParsedPacket& packet = packets_[static_cast<uint16_t>(unit.packet())].parsed;
  const RequestJudgement judgement =
      judge_request(request.control(), std::as_const(*queue_pair).transport(), packet, resources_);
  switch (judgement.verdict) {
  case RequestVerdict::execute:
    if (!request.is_reliable() && packet.traits().begins_message())
      lose_message(*queue_pair);
    if (takes_receive(packet.traits()) && !take_kept(request))
      switch (descriptors_.take_at_once(unit.underlying_function(), unit.queue_pair_number(), *queue_pair)) {
      case DescriptorFetch::Answer::later:
        want_descriptor(unit);
        return Progress::waits;
      case DescriptorFetch::Answer::none:
        return go_on(unit, false);
      case DescriptorFetch::Answer::taken:
        break;
      }
    execute(request);
    break;
  case RequestVerdict::repeat:
    repeat(request);
    break;
  case RequestVerdict::refuse:
    refuse(request, static_cast<uint8_t>(judgement.syndrome));
    break;
  case RequestVerdict::drop:
    lose(request);
    break;
  }
  return Progress::done;
}

// Takes the receive work request that a message has left whose end was lost. False: there is none.
bool Receive::take_kept(const Request& request) {
  ReceiveQueueState& receive_queue = request.queue_pair.responder;
  if (receive_queue.receive_kept() == 0)
    return false;
  receive_queue.set_receive_kept(0);
  packets_[static_cast<uint16_t>(request.unit.packet())].receive_kept = true;
  return true;
}

void Receive::execute(const Request& request) {
  Packet& packet = packets_[static_cast<uint16_t>(request.unit.packet())];
  TransportResponder& responder = request.responder();
  establish(request);
  if (!request.is_reliable())
    responder.set_expected_psn(packet.parsed.fields.packet_sequence_number);
  packet.answer_psn = responder.expected_psn();
  describe(request.queue_pair, packet);
  if (packet.parsed.traits().has(spec::ExtendedHeader::datagram))
    packet.message_offset = expose_global_route(packets_, static_cast<uint16_t>(request.unit.packet()));
  const uint32_t psns = is_rdma_read(packet.parsed)
                            ? packets_of(packet.message_length, TransportPath(request.control()).mtu_bytes())
                            : 1;
  responder.set_expected_psn(psn_add(responder.expected_psn(), psns));
  responder.set_nak_sent(0);
  if (!is_message(packet.parsed))
    resources_.add(request.unit.queue_pair_number(), responder,
                   {.is_read = is_rdma_read(packet.parsed),
                    .psn = packet.answer_psn,
                    .packets = psns,
                    .remote_key = packet.remote_key,
                    .length = packet.message_length,
                    .address = packet.remote_address});
  // A READ counts when its execution is certain to begin, other requests when they are complete (9.7.7.1).
  if (packet.last)
    responder.set_message_sequence_number(psn_add(responder.message_sequence_number(), 1));
  packet.message_sequence_number = responder.message_sequence_number();
  accept(request.unit, action_of(packet.parsed));
}

// Where in its message a packet stands, and where it goes.
void Receive::describe(QueuePairParts& queue_pair, Packet& packet) {
  TransportResponder& responder = queue_pair.transport().responder();
  const spec::PacketOpcodeTraits& traits = packet.parsed.traits();
  const wire::PacketFields& fields = packet.parsed.fields;
  packet.first = traits.begins_message();
  packet.last = traits.ends_message();
  if (packet.first) {
    responder.set_current_offset(0);
    responder.set_current_address(fields.virtual_address);
    responder.set_current_key(fields.remote_key);
    responder.set_current_length(fields.dma_length);
    if (traits.operation == spec::PacketOperation::send)
      responder.set_current_message(ReceiveMessage::send);
    else if (traits.operation == spec::PacketOperation::rdma_write)
      responder.set_current_message(ReceiveMessage::rdma_write);
  }
  packet.message_offset = responder.current_offset();
  packet.message_length = responder.current_length();
  packet.remote_address = responder.current_address();
  packet.remote_key = responder.current_key();
  responder.set_current_offset(responder.current_offset() + packet.payload_bytes);
  if (packet.last)
    responder.set_current_message(ReceiveMessage::none);
  if (traits.operation == spec::PacketOperation::send || traits.completes_receive()) {
    const ReceiveDescriptor taken = DescriptorFetch::taken(queue_pair.responder);
    packet.receive_sequence_number = taken.sequence_number;
    packet.receive_entry_offset = taken.offset;
    packet.receive_entry_length = taken.length;
  }
}

// The first packet of a connection tells that the peer is there.
void Receive::establish(const Request& request) {
  if (request.control().service_type() == ServiceType::unreliable_datagram ||
      request.control().state() != QueuePairState::ready_to_receive ||
      request.responder().communication_established() != 0)
    return;
  request.responder().set_communication_established(1);
  spec::EventUnit event;
  event.set_type(spec::EventType::communication_established);
  event.set_underlying_function(request.unit.underlying_function());
  event.set_object(request.unit.queue_pair_number());
  events_.report(event);
}

// A SEND or RDMA WRITE is acknowledged up to the newest accepted one; other requests are answered again.
void Receive::repeat(const Request& request) {
  Packet& packet = packets_[static_cast<uint16_t>(request.unit.packet())];
  TransportResponder& responder = request.responder();
  ++counters_.function[request.unit.underlying_function()].requests_duplicate;
  packet.duplicate = true;
  packet.first = true;
  packet.last = true;
  packet.message_sequence_number = responder.message_sequence_number();
  if (is_message(packet.parsed)) {
    packet.answer_psn = psn_add(responder.expected_psn(), psn_mask);
    accept(request.unit, ReceiveAction::acknowledge);
    return;
  }
  packet.answer_psn = packet.parsed.fields.packet_sequence_number;
  packet.message_length = packet.parsed.fields.dma_length;
  packet.remote_address = packet.parsed.fields.virtual_address;
  packet.remote_key = packet.parsed.fields.remote_key;
  if (is_rdma_read(packet.parsed))
    responder.set_repeated_reads_accepted(responder.repeated_reads_accepted() + 1);
  accept(request.unit, action_of(packet.parsed));
}

// A NAK gives the expected PSN. The device then drops packets until that PSN arrives.
void Receive::refuse(const Request& request, uint8_t syndrome) {
  Packet& packet = packets_[static_cast<uint16_t>(request.unit.packet())];
  TransportResponder& responder = request.responder();
  responder.set_nak_sent(1);
  packet.answer_psn = responder.expected_psn();
  packet.message_sequence_number = responder.message_sequence_number();
  packet.syndrome = syndrome;
  accept(request.unit, ReceiveAction::refuse);
}

void Receive::accept(const spec::PacketUnit& unit, ReceiveAction action) {
  spec::ReceiveUnit accepted;
  accepted.set_packet(unit.packet());
  accepted.set_action(action);
  accepted.set_underlying_function(unit.underlying_function());
  accepted.set_queue_pair_number(unit.queue_pair_number());
  requests_accepted_.hand_over(accepted);
}

// A packet that is not executed and, on an unreliable service, the rest of its message.
void Receive::lose(const Request& request) {
  if (!request.is_reliable())
    lose_message(request.queue_pair);
  drop(request.unit);
}

// The receive work request of a SEND whose end was lost is taken by the next message.
void Receive::lose_message(QueuePairParts& queue_pair) {
  TransportResponder& responder = queue_pair.transport().responder();
  if (responder.current_message() == ReceiveMessage::send)
    queue_pair.responder.set_receive_kept(1);
  responder.set_current_message(ReceiveMessage::none);
}

void Receive::drop(const spec::PacketUnit& unit) {
  ++counters_.function[unit.underlying_function()].requests_dropped;
  packets_.release(static_cast<uint16_t>(unit.packet()));
  queue_pairs_.unpin(unit.queue_pair_number());
}

// Null: the queue pair is gone.
QueuePairParts* Receive::parts_of(const spec::PacketUnit& unit) {
  return queue_pairs_.parts(unit.underlying_function(), unit.queue_pair_number());
}

} // namespace fpga_verbs::hca
