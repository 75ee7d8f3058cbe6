#include "hca/transmit/packet_builder.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/collect/finish.h"
#include "hca/send_queue/send_work_request.h"
#include "hca/transmit/request_opcode.h"
#include "spec/byte_order.h"
#include "wire/packet_headers.h"

#include <cassert>

namespace fpga_verbs::hca {

namespace {

using spec::CompletionStatus;
using spec::Opcode;

// Packets that can be in this block at once: those in packet memory, and a failed command for each execution
// credit.
size_t units_at_once(const HcaParameters& parameters) {
  return spec::request_packet_buffers + execution_credits(parameters);
}

// The high bit requests the queue pair's own Q_Key: other Q_Keys with that bit are for privileged users
// (InfiniBand volume 1, 10.2.5).
uint32_t queue_key_of(const spec::CommandHeader& header, const spec::QueuePairControl& control) {
  constexpr uint32_t is_controlled = 0x80000000;
  return (header.queue_key() & is_controlled) != 0 ? control.queue_key() : header.queue_key();
}

// Fills in the fields of extended headers from a command, for the packet whose payload starts at `offset` in
// its message.
void fill_extended(wire::PacketFields& fields, const spec::CommandHeader& header, const Execution& execution,
                   uint64_t offset) {
  const spec::Operation operation = spec::operation_of(header.opcode());
  fields.remote_key = operation.carries == spec::OperationCarries::invalidated_key ? header.immediate_data()
                                                                                   : header.remote_key();
  // A resumed READ requests the rest; any other resumed message has sent its RETH already.
  fields.virtual_address = header.remote_address() + offset;
  fields.dma_length = static_cast<uint32_t>(execution.message_length - offset);
  const bool is_swap = header.opcode() == Opcode::atomic_compare_and_swap;
  fields.swap_add = is_swap ? header.swap() : header.compare_add();
  fields.compare = is_swap ? header.compare_add() : 0;
  // Opaque: the bytes on the wire are those of the command.
  fields.immediate_data = spec::big_endian(header.immediate_data());
}

} // namespace

PacketBuilder::PacketBuilder(const HcaParameters& parameters, Counters& counters,
                             CollectBufferPort& collect_buffer, PhysicalCollectBuffers& buffers,
                             QueuePairStateCache& queue_pairs, KickRecords& kick_records,
                             PacketTemplates& templates, PacketMemory& packets,
                             DataLink<spec::PacketUnit>& packets_gathered,
                             DataLink<spec::PacketUnit>& requests_built,
                             DataLink<spec::MessageUnit>& messages, DataLink<spec::FinishUnit>& finishes_sent)
    : counters_(counters), collect_buffer_(collect_buffer), buffers_(buffers), queue_pairs_(queue_pairs),
      kick_records_(kick_records), templates_(templates), packets_(packets),
      packets_gathered_(packets_gathered), requests_built_(requests_built), messages_(messages),
      finishes_sent_(finishes_sent),
      units_(
          {.entries = units_at_once(parameters), .lists = units_at_once(parameters), .ready_on_push = true}) {
}

bool PacketBuilder::step() {
  const bool taken = take_packet();
  return (serve() || taken) && (units_.lists_ready().any() || !packets_gathered_.empty());
}

PacketBuilder::Taken PacketBuilder::take_at_once(const spec::PacketUnit& unit) {
  if (!units_.empty() || !can_work())
    return Taken::no;
  work_on(unit);
  return Taken::done;
}

PacketBuilder::TakenTrain PacketBuilder::take_train(std::span<const spec::PacketUnit> train) {
  TakenTrain taken;
  if (!units_.empty())
    return taken;
  QueuePairParts* const queue_pair =
      queue_pairs_.parts(train.front().underlying_function(), train.front().queue_pair_number());
  finishes_sent_.begin_train();
  messages_.begin_train();
  while (taken.units != train.size() && can_work()) {
    const spec::PacketUnit& unit = train[taken.units];
    if (queue_pair != nullptr && unit.packet() != no_packet) {
      taken.units += send_together(message_of(unit, *queue_pair), train.subspan(taken.units));
    } else {
      work_on(unit);
      ++taken.units;
    }
  }
  finishes_sent_.end_train(); // before messages can be over
  messages_.end_train();
  return taken;
}

// The first packets of a train, as far as they are of one message, at least one. Returns their number.
size_t PacketBuilder::send_together(const Message& message, std::span<const spec::PacketUnit> train) {
  size_t sent = 0;
  do {
    const spec::PacketUnit& unit = train[sent++];
    build(message, unit);
    requests_built_.push(unit); // leaves with the others
    if (unit.last() != 0) {
      end_message(unit);
      break;
    }
  } while (sent != train.size() && train[sent].packet() != no_packet &&
           train[sent].physical_collect_buffer() == train[0].physical_collect_buffer() && can_work());
  return sent;
}

bool PacketBuilder::can_work() {
  return requests_built_.has_credit() && messages_.has_credit() && finishes_sent_.has_credit();
}

// Stores nothing while no packet waits: the packet bypasses an empty queue, in RTL too.
bool PacketBuilder::take_packet() {
  if (packets_gathered_.empty())
    return false;
  const spec::PacketUnit& unit = packets_gathered_.front();
  if (units_.empty() && can_work()) {
    work_on(unit);
  } else {
    [[maybe_unused]] const auto pushed = units_.push(unit.queue_pair_number(), unit);
    assert(pushed.result == LinkedListResult::ok);
  }
  packets_gathered_.pop();
  return true;
}

bool PacketBuilder::serve() {
  if (!units_.lists_ready().any() || !can_work())
    return false;
  const uint16_t list = units_.arbitrate(1);
  bool is_corrupted = false;
  const spec::PacketUnit unit = units_.front(list, is_corrupted);
  units_.pop_front(list);
  if (is_corrupted) [[unlikely]]
    drop(unit);
  else
    work_on(unit);
  return true;
}

// A packet that is not sent. Its queue pair is in error, and flushes its message.
void PacketBuilder::drop(const spec::PacketUnit& unit) {
  if (unit.packet() != no_packet)
    packets_.release(static_cast<uint16_t>(unit.packet()));
  if (unit.last() == 0)
    return;
  buffers_[unit.physical_collect_buffer()].execution.kick.set_status(
      CompletionStatus::work_request_flushed_error);
  end_message(unit);
}

void PacketBuilder::work_on(const spec::PacketUnit& unit) {
  if (unit.packet() != no_packet) {
    if (QueuePairParts* const queue_pair =
            queue_pairs_.parts(unit.underlying_function(), unit.queue_pair_number())) {
      build(message_of(unit, *queue_pair), unit);
      requests_built_.hand_over(unit);
    } else {
      packets_.release(static_cast<uint16_t>(unit.packet()));
    }
  }
  if (unit.last() != 0)
    end_message(unit);
}

void PacketBuilder::end_message(const spec::PacketUnit& unit) {
  // completion knows the message before an answer to its last packet, which is taken in another step; and the
  // message cannot be over before its command.
  const PhysicalCollectBuffer& pcb = buffers_[unit.physical_collect_buffer()];
  const spec::MessageUnit message = message_unit(unit, pcb);
  end_command(pcb);
  messages_.hand_over(message);
}

PacketBuilder::Message PacketBuilder::message_of(const spec::PacketUnit& unit, QueuePairParts& queue_pair) {
  const PhysicalCollectBuffer& pcb = buffers_[unit.physical_collect_buffer()];
  const spec::CommandHeader& header = pcb.header();
  const spec::QueuePairControl& control = queue_pair.control;
  const spec::ServiceType service = control.service_type();
  PacketTemplates::Template& packet_template =
      service == spec::ServiceType::unreliable_datagram
          ? templates_.of(unit.queue_pair_number(), control, pcb.execution.destination,
                          header.destination_queue_pair())
          : templates_.of(unit.queue_pair_number(), control);
  return {.pcb = pcb,
          .queue_pair = queue_pair,
          .packet_template = packet_template,
          .cause = {.origin = wire::PacketOrigin::command,
                    .opcode = header.opcode(),
                    .send_queue_sequence_number =
                        static_cast<uint16_t>(pcb.execution.kick.send_queue_sequence_number()),
                    .queue_pair_number = unit.queue_pair_number()},
          .mtu = queue_pair.transport().path().mtu_bytes(),
          .port = static_cast<uint8_t>(control.port()),
          .service = service};
}

void PacketBuilder::build(const Message& message, const spec::PacketUnit& unit) {
  const auto handle = static_cast<uint16_t>(unit.packet());
  Packet& packet = packets_[handle];
  const spec::CommandHeader& header = message.pcb.header();
  const Execution& execution = message.pcb.execution;
  const bool last = unit.last() != 0;
  wire::PacketFields fields;
  fields.opcode = request_opcode(message.service, header.opcode(), packet.number == 0, last);
  fields.packet_sequence_number = psn_add(execution.first_psn, packet.number);
  fields.solicited_event = last && header.solicited() != 0;
  fields.acknowledge_request = last && message.service == spec::ServiceType::reliable_connection;
  if (spec::traits_of(fields.opcode).extended_headers != 0)
    fill_extended(fields, header, execution, uint64_t{packet.number} * message.mtu);
  packet.port = message.port;
  packet.elsewhere = message.packet_template.elsewhere;
  packet.cause = message.cause;
  packet.cause.packet = packet.number;
  if (message.service == spec::ServiceType::unreliable_datagram) {
    fields.queue_key = queue_key_of(header, message.queue_pair.control);
    fields.source_queue_pair = unit.queue_pair_number();
  }
  packets_.place(handle, wire::build_packet(packets_.bytes(handle) + packet.payload, message.packet_template,
                                            fields, packet.payload_bytes));
  note_built(message, unit);
}

// From now on the packet may be answered. One of before a retry is not asked for any more.
void PacketBuilder::note_built(const Message& message, const spec::PacketUnit& unit) {
  const Execution& execution = message.pcb.execution;
  TransportRequester& requester = message.queue_pair.transport().requester();
  if (requester.retry_epoch() != execution.retry_epoch)
    return;
  const uint32_t packet = packets_[static_cast<uint16_t>(unit.packet())].number;
  const uint32_t built = is_read_or_atomic(message.pcb.header().opcode()) ? execution.packets : packet + 1;
  requester.set_built_psn(psn_add(execution.first_psn, built));
}

spec::MessageUnit PacketBuilder::message_unit(const spec::PacketUnit& unit,
                                              const PhysicalCollectBuffer& pcb) {
  const Execution& execution = pcb.execution;
  spec::MessageUnit message;
  message.set_queue_pair_number(unit.queue_pair_number());
  message.set_underlying_function(unit.underlying_function());
  message.set_opcode(static_cast<uint32_t>(pcb.header().opcode()));
  message.set_send_queue_sequence_number(execution.kick.send_queue_sequence_number());
  message.set_transmit_virtual_lane(execution.kick.transmit_virtual_lane());
  message.set_quality_of_service_level(execution.kick.quality_of_service_level());
  message.set_completion_credit_shared(execution.kick.completion_credit_shared());
  message.set_failure(static_cast<uint32_t>(execution.kick.status()));
  message.set_last_psn(psn_add(execution.first_psn, execution.packets - 1));
  message.set_retry_epoch(execution.retry_epoch);
  message.set_signaled(pcb.header().signaled());
  message.set_message_length(static_cast<uint32_t>(execution.message_length));
  return message;
}

// The last packet has left: returns PCB and execution credit.
void PacketBuilder::end_command(const PhysicalCollectBuffer& pcb) {
  const spec::KickUnit kick = pcb.execution.kick;
  kick_records_.sent(kick, no_buffer, pcb.header().opcode(), pcb.execution.begun);
  FunctionCounters& counters = counters_.function[kick.underlying_function()];
  ++(kick.status() == CompletionStatus::success ? counters.commands_sent : counters.commands_failed);
  spec::FinishUnit finish = finish_of(kick);
  finish.set_completion_credit_returned(0);
  finish.set_finished(0);
  collect_buffer_.release(static_cast<uint16_t>(kick.physical_collect_buffer()));
  finishes_sent_.hand_over(finish);
}

} // namespace fpga_verbs::hca
