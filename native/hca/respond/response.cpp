#include "hca/respond/response.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/queue_pair/end_to_end_credits.h"
#include "hca/respond/negative_acknowledge.h"

#include <algorithm>
#include <cassert>
#include <span>

namespace fpga_verbs::hca {

namespace {

using spec::AnswerKind;
using spec::PacketOpcode;
using spec::Syndrome;

PacketOpcode read_response_opcode(bool first, bool last) {
  if (first)
    return last ? PacketOpcode::reliable_connection_rdma_read_response_only
                : PacketOpcode::reliable_connection_rdma_read_response_first;
  return last ? PacketOpcode::reliable_connection_rdma_read_response_last
              : PacketOpcode::reliable_connection_rdma_read_response_middle;
}

bool is_acknowledge(const spec::AnswerUnit& unit) {
  return unit.kind() == AnswerKind::acknowledge &&
         unit.syndrome() == static_cast<uint32_t>(Syndrome::acknowledge_without_credits);
}

// A newer ACK covers this one.
bool supersedes(const spec::AnswerUnit& newer, const spec::AnswerUnit& unit) {
  return is_acknowledge(unit) && is_acknowledge(newer) &&
         newer.queue_pair_number() == unit.queue_pair_number() &&
         newer.underlying_function() == unit.underlying_function();
}

// Whether its peer still waits for answers.
bool is_awaited(const QueuePairParts& queue_pair) {
  return queue_pair.control.destroying() == 0 && queue_pair.transport().responder().answers_ended() == 0;
}

} // namespace

Response::Response(const HcaParameters& parameters, Counters& counters, PacketMemory& packets,
                   QueuePairStateCache& queue_pairs, MemoryTranslation& translation, HostReads& host_reads,
                   PacketTemplates& templates, const Port& port, EventPort& events, ResponseReads& reads,
                   const ResponderResources& responder_resources, DataLink<spec::AnswerUnit>& answers,
                   DataLink<spec::PacketUnit>& responses_built)
    : parameters_(parameters), counters_(counters), packets_(packets), queue_pairs_(queue_pairs),
      translation_(translation), host_reads_(host_reads), templates_(templates), port_(port), events_(events),
      reads_(reads), responder_resources_(responder_resources), answers_(answers),
      responses_built_(responses_built), queue_({.entries = spec::response_entries,
                                                 .lists = spec::response_entries,
                                                 .underlying_functions = parameters.underlying_functions,
                                                 .ready_on_push = true}) {}

bool Response::step() {
  const bool resumed = host_reads_.take_time() && resume_arrived();
  const bool passed = queue_.empty() && pass();
  const bool taken = !passed && take_answer();
  return (passed || build() || taken || resumed) && (queue_.lists_ready().any() || !answers_.empty());
}

// Stores nothing while no answer waits: the answer bypasses an empty queue, in RTL too. Stores a READ with
// more responses after its first.
bool Response::pass() {
  if (answers_.empty() || !responses_built_.has_credit() || host_reads_.take_time())
    return false;
  // Builds only the last of several consecutive ACKs.
  if (parameters_.acknowledge_coalescing)
    while (answers_.size() > 1 && supersedes(answers_.peek(1), answers_.front())) {
      queue_pairs_.unpin(answers_.front().queue_pair_number());
      answers_.pop();
    }
  const spec::AnswerUnit& unit = answers_.front();
  const std::optional<uint16_t> handle = packets_.allocate(PacketUse::response);
  if (!handle)
    return false;
  if (!work_on(unit, *handle, false))
    queue_.push(unit.queue_pair_number(), unit, unit.underlying_function());
  answers_.pop();
  return true;
}

Response::Taken Response::take_at_once(const spec::AnswerUnit& unit) {
  if (!is_acknowledge(unit) || !queue_.empty() || !port_.is_last() || !responses_built_.has_credit() ||
      host_reads_.take_time())
    return Taken::no;
  const std::optional<uint16_t> handle = packets_.allocate(PacketUse::response);
  if (!handle)
    return Taken::no;
  [[maybe_unused]] const bool is_complete = work_on(unit, *handle, false);
  assert(is_complete);
  return Taken::done;
}

bool Response::take_answer() {
  if (answers_.empty() || queue_.inbound_credits() == 0)
    return false;
  const spec::AnswerUnit& unit = answers_.front();
  queue_.push(unit.queue_pair_number(), unit, unit.underlying_function());
  answers_.pop();
  return true;
}

bool Response::build() {
  if (!responses_built_.has_credit() || !queue_.lists_ready().any())
    return false;
  const std::optional<uint16_t> handle = packets_.allocate(PacketUse::response);
  if (!handle)
    return false;
  const uint16_t list = queue_.arbitrate(1);
  const spec::AnswerUnit unit = queue_.front(list);
  if (host_reads_.take_time()) [[unlikely]] {
    if (!has_data(list, unit)) {
      packets_.release(*handle);
      queue_.mark_not_ready(queue_.head(list));
      return true;
    }
    reader_ = list;
  }
  const bool is_complete = work_on(unit, *handle, is_superseded(list, unit));
  if (reader_) [[unlikely]] {
    host_reads_.end(HostReader::response, list);
    reader_.reset();
  }
  if (is_complete)
    queue_.pop_front(list);
  return true;
}

bool Response::resume_arrived() {
  bool resumed = false;
  while (const std::optional<uint16_t> list = host_reads_.take_arrived(HostReader::response)) {
    queue_.mark_ready(queue_.head(*list));
    resumed = true;
  }
  return resumed;
}

// Whether the data of the next response is here, or it has none. Otherwise its read is under way.
bool Response::has_data(uint16_t list, const spec::AnswerUnit& unit) {
  const auto found = queue_pairs_.find(unit.underlying_function(), unit.queue_pair_number());
  if (unit.kind() != AnswerKind::read || !found || !is_awaited(*found))
    return host_reads_.are_here(HostReader::response, list, {});
  const KeyAccess access = next_access(unit, *found);
  return host_reads_.are_here(HostReader::response, list, {&access, 1});
}

// Builds one packet of an answer in this buffer. True: the answer is complete.
bool Response::work_on(const spec::AnswerUnit& unit, uint16_t handle, bool is_superseded) {
  const auto found = queue_pairs_.find(unit.underlying_function(), unit.queue_pair_number());
  const bool is_wanted = found && is_awaited(*found) && !is_superseded;
  if (!is_wanted)
    packets_.release(handle);
  else if (!build_packet_of(unit, *found, handle))
    return false;
  end(unit);
  return true;
}

bool Response::is_superseded(uint16_t list, const spec::AnswerUnit& unit) {
  if (!parameters_.acknowledge_coalescing || !is_acknowledge(unit))
    return false;
  const auto next = queue_.peek(list);
  return next.result == LinkedListResult::ok && supersedes(next.unit, unit);
}

// Builds one packet. True: it is the last of the answer.
bool Response::build_packet_of(const spec::AnswerUnit& unit, const QueuePairParts& queue_pair,
                               uint16_t handle) {
  const spec::QueuePairControl& control = queue_pair.control;
  const TransportResponder& responder = queue_pair.transport().responder();
  if (unit.kind() == AnswerKind::read)
    return build_read(unit, queue_pair, handle);
  wire::PacketFields fields{.opcode = PacketOpcode::reliable_connection_acknowledge,
                            .packet_sequence_number = unit.packet_sequence_number(),
                            .message_sequence_number = unit.message_sequence_number(),
                            .syndrome = static_cast<uint8_t>(unit.syndrome())};
  if (unit.kind() == AnswerKind::atomic) {
    const ResponderResource* const done =
        responder_resources_.find(unit.queue_pair_number(), responder, unit.packet_sequence_number());
    if (done == nullptr) { // the requester has gone on since it asked again
      packets_.release(handle);
      return true;
    }
    fields.opcode = PacketOpcode::reliable_connection_atomic_acknowledge;
    fields.original_data = done->original_data;
    fields.syndrome = acknowledge_syndrome(unit, queue_pair);
  } else if (is_acknowledge(unit)) {
    fields.syndrome = acknowledge_syndrome(unit, queue_pair);
  }
  count(unit, fields.syndrome);
  send(unit, control, fields, 0, handle);
  return true;
}

// Syndrome of an ACK with the MSN of the unit; with credits, it is remembered up to where they allow the
// peer to go.
uint8_t Response::acknowledge_syndrome(const spec::AnswerUnit& unit, const QueuePairParts& queue_pair) {
  if (!gives_credits(queue_pair))
    return static_cast<uint8_t>(Syndrome::acknowledge_without_credits);
  // Messages that were accepted since have a later MSN, and took receives: the limit is the same.
  const uint32_t messages = unit.message_sequence_number();
  uint32_t code = credit_code_of(psn_add(credit_limit_of(queue_pair), 0 - messages));
#ifdef FPGA_VERBS_MUTANT_CREDITS_ROUNDED_UP
  code += credits_of(code) != psn_add(credit_limit_of(queue_pair), 0 - messages) ? 1 : 0;
#endif
  const uint32_t limit = psn_add(messages, credits_of(code));
  if (psn_distance(queue_pair.transport().responder().advertised_limit(), limit) > 0)
    if (const auto transport = queue_pairs_.transport(unit.underlying_function(), unit.queue_pair_number()))
      transport->responder().set_advertised_limit(limit);
  return static_cast<uint8_t>(static_cast<uint32_t>(Syndrome::acknowledge) | code);
}

// The memory of the next response of a READ.
KeyAccess Response::next_access(const spec::AnswerUnit& unit, const QueuePairParts& queue_pair) {
  const ResponseRead& read = reads_[static_cast<uint16_t>(unit.read())];
  return {.underlying_function = unit.underlying_function(),
          .protection_domain = queue_pair.control.protection_domain(),
          .key = read.remote_key,
          .address = read.address + read.offset,
          .length = std::min(queue_pair.transport().path().mtu_bytes(), read.length - read.offset),
          .rights = right(spec::AccessFlag::remote_read),
          .queue_pair_number = unit.queue_pair_number(),
          .begun = true};
}

// The next response of a READ; a NAK in its place if memory cannot be read.
bool Response::build_read(const spec::AnswerUnit& unit, const QueuePairParts& queue_pair, uint16_t handle) {
  const spec::QueuePairControl& control = queue_pair.control;
  ResponseRead& read = reads_[static_cast<uint16_t>(unit.read())];
  const KeyAccess access = next_access(unit, queue_pair);
  const auto bytes = static_cast<uint32_t>(access.length);
  wire::PacketFields fields{.packet_sequence_number = psn_add(unit.packet_sequence_number(), read.packets),
                            .message_sequence_number = unit.message_sequence_number()};
  const AccessFault fault =
      host_reads_.read(HostReader::response, reader_, access, packets_.bytes(handle) + spec::packet_headroom);
  if (fault != AccessFault::none) {
    const Syndrome syndrome = syndrome_of(fault);
    fields.opcode = PacketOpcode::reliable_connection_acknowledge;
    fields.syndrome = static_cast<uint8_t>(syndrome);
    if (unit.duplicate() == 0) // its message is not complete
      fields.message_sequence_number = psn_add(fields.message_sequence_number, psn_mask);
    count(unit, fields.syndrome);
    send(unit, control, fields, 0, handle);
    fail_read(unit, syndrome);
    return true;
  }
  const bool first = read.packets == 0;
  const bool last = read.offset + bytes == read.length;
  fields.opcode = read_response_opcode(first, last);
  fields.syndrome = acknowledge_syndrome(unit, queue_pair);
  ++read.packets;
  read.offset += bytes;
  send(unit, control, fields, bytes, handle);
  return last;
}

// Nothing is answered after a READ that failed part way.
void Response::fail_read(const spec::AnswerUnit& unit, Syndrome syndrome) {
  if (const auto transport = queue_pairs_.transport(unit.underlying_function(), unit.queue_pair_number()))
    transport->responder().set_answers_ended(1);
  if (!queue_pairs_.enter_error(unit.underlying_function(), unit.queue_pair_number()))
    return;
  spec::EventUnit event;
  event.set_type(event_of(syndrome));
  event.set_underlying_function(unit.underlying_function());
  event.set_object(unit.queue_pair_number());
  event.set_detail(unit.packet_sequence_number());
  events_.report(event);
}

void Response::send(const spec::AnswerUnit& unit, const spec::QueuePairControl& control,
                    const wire::PacketFields& fields, uint32_t payload_bytes, uint16_t handle) {
  PacketTemplates::Template& packet_template = templates_.of(unit.queue_pair_number(), control);
  packets_.place(handle, wire::build_packet(packets_.bytes(handle) + spec::packet_headroom, packet_template,
                                            fields, payload_bytes));
  Packet& packet = packets_[handle];
  packet.elsewhere = packet_template.elsewhere;
  packet.payload = spec::packet_headroom;
  packet.payload_bytes = static_cast<uint16_t>(payload_bytes);
  packet.port = static_cast<uint8_t>(control.port());
  packet.cause = {.origin = wire::PacketOrigin::request, .queue_pair_number = unit.queue_pair_number()};
  spec::PacketUnit built;
  built.set_packet(handle);
  built.set_underlying_function(unit.underlying_function());
  built.set_queue_pair_number(unit.queue_pair_number());
  built.set_first(spec::traits_of(fields.opcode).begins_message() ? 1 : 0);
  built.set_last(spec::traits_of(fields.opcode).ends_message() ? 1 : 0);
  // The last of an answer with others behind it leaves with them.
  if (built.last() != 0 && queue_.empty() && answers_.size() <= 1)
    responses_built_.hand_over(built);
  else
    responses_built_.push(built);
}

void Response::count(const spec::AnswerUnit& unit, uint8_t syndrome) {
  FunctionCounters& counters = counters_.function[unit.underlying_function()];
  if (is_negative(syndrome))
    ++counters.negative_acknowledges;
  else if (is_receiver_not_ready(syndrome))
    ++counters.receiver_not_ready_negative_acknowledges;
}

// The answer is sent, or no requester waits for it any more.
void Response::end(const spec::AnswerUnit& unit) {
  if (unit.kind() == AnswerKind::read) {
    const auto place = static_cast<uint16_t>(unit.read());
    if (reads_[place].length != 0)
      translation_.keys().end_access(reads_[place].remote_key);
    reads_.end(place);
  }
  const unsigned function = unit.underlying_function();
  if (unit.kind() != AnswerKind::acknowledge)
    if (const auto transport = queue_pairs_.transport(function, unit.queue_pair_number())) {
      TransportResponder& responder = transport->responder();
      if (unit.duplicate() == 0)
        responder.set_read_atomic_head(responder.read_atomic_head() + 1);
      else if (unit.kind() == AnswerKind::read)
        responder.set_repeated_reads_answered(responder.repeated_reads_answered() + 1);
    }
  queue_pairs_.unpin(unit.queue_pair_number());
}

} // namespace fpga_verbs::hca
