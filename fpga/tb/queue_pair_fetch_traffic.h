#pragma once

#include "bench.h"
#include "queue_pair_fetch_model.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/base/sequence_number.h"
#include "spec/commands.h"
#include "spec/contexts.h"
#include "spec/operations.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fpga_verbs::bench {

// Random contexts and commands, near the limits that queue_pair_fetch compares them with.
class FetchTraffic {
public:
  struct QueuePair {
    uint32_t number = 0;
    unsigned underlying_function = 0;
    bool is_quiescing = false;
  };
  struct Handle {
    uint32_t number = 0;
    unsigned underlying_function = 0;
  };
  static constexpr uint32_t most_packets = 1U << 23;

  FetchTraffic(Random& random, FetchModel& model) : random_(random), model_(model) {}

  std::vector<QueuePair> live;
  std::vector<Handle> handles;

  QueuePair& some_queue_pair() { return live[random_.below(static_cast<uint32_t>(live.size()))]; }
  hca::QueuePairParts& parts(const QueuePair& queue_pair) {
    return *model_.queue_pairs.parts(queue_pair.underlying_function, queue_pair.number);
  }

  spec::QueuePairState some_state() {
    using spec::QueuePairState;
    if (!random_.once(8))
      return random_.once(6) ? QueuePairState::send_queue_drained : QueuePairState::ready_to_send;
    return static_cast<QueuePairState>(random_.below(static_cast<uint32_t>(QueuePairState::error) + 1));
  }
  spec::QueuePairControl some_control() {
    using spec::ServiceType;
    spec::QueuePairControl control;
    fill(&control, sizeof control);
    control.set_state(some_state());
    control.set_service_type(std::array{ServiceType::reliable_connection, ServiceType::reliable_connection,
                                        ServiceType::unreliable_connection,
                                        ServiceType::unreliable_datagram}[random_.below(4)]);
    control.set_destroying(random_.once(32));
    control.set_send_error(random_.once(16));
    control.set_protection_domain(some_domain());
    control.set_port(1 + random_.below(spec::ports));
    control.set_send_queue_log2(random_.once(4) ? 10 + random_.below(6) : random_.below(5));
    control.set_path_mtu(static_cast<spec::PathMtu>(1 + random_.below(5)));
    control.set_max_read_atomic(random_.below(4));
    return control;
  }
  uint32_t some_domain() { return 1 + random_.below(2); }

  // The requester part of a queue pair that has no unit in flight; `scheduled` stays.
  void shuffle_requester(const QueuePair& queue_pair) {
    hca::QueuePairParts& own = parts(queue_pair);
    hca::SendQueueState& requester = own.requester;
    hca::TransportRequester& sent = own.transport().requester();
    const auto next = static_cast<uint16_t>(random_.bits());
    requester.set_next(next);
    requester.set_posted(next - 1 + (random_.once(3) ? random_.below(4) : 0));
    requester.set_fetch_next(near(next));
    requester.set_begun(random_.once(24) ? next + 0x8000 : next - 1 + random_.below(4));
    requester.set_stopped(random_.once(8));
    requester.set_rewound(random_.once(4));
    requester.set_hold(random_.once(6) ? spec::SendHold::fence : spec::SendHold::none);
    sent.set_next_psn(static_cast<uint32_t>(random_.bits()) & hca::psn_mask);
    sent.set_built_psn(static_cast<uint32_t>(random_.bits()) & hca::psn_mask);
    sent.set_retry_epoch(random_.below(128));
    sent.set_send_sequence_number(static_cast<uint32_t>(random_.bits()) & 0xffffff);
    sent.set_read_atomic_issued(random_.below(256));
    sent.set_resume_packets(random_.once(6) ? random_.below(1000) : 0);
    shuffle_completion(queue_pair, true);
  }

  // Posted commands are not executed yet.
  bool owes(const QueuePair& queue_pair) {
    const hca::SendQueueState& requester = parts(queue_pair).requester;
    return hca::sequence_distance(requester.next(), requester.posted()) >= 0;
  }
  // The queue pair does not go on by itself.
  bool is_stuck(const QueuePair& queue_pair) {
    const hca::SendQueueState& requester = parts(queue_pair).requester;
    return requester.stopped() != 0 || requester.hold() != spec::SendHold::none;
  }

  // The fields that completion writes, at any time. If `settles`, it takes over the epoch of the requester
  // part.
  void shuffle_completion(const QueuePair& queue_pair, bool settles) {
    hca::QueuePairParts& own = parts(queue_pair);
    const hca::TransportRequester& sent = own.transport().requester();
    hca::TransportCompletion& completion = own.transport().completion();
    own.completion.set_acknowledged(random_.once(64)  ? random_.bits()
                                    : random_.once(2) ? own.requester.next() - random_.below(4)
                                                      : own.requester.next());
    completion.set_read_atomic_answered(
        static_cast<uint8_t>(sent.read_atomic_issued() - (random_.once(2) ? random_.below(5) : 0)));
    completion.set_receiver_not_ready_wait(random_.once(10));
    uint32_t used = random_.once(2) ? random_.below(100) : 0;
    if (random_.once(4))
      used = most_packets - random_.below(4);
    completion.set_unacknowledged_psn((sent.next_psn() - used) & hca::psn_mask);
    completion.set_message_psn((completion.unacknowledged_psn() - random_.below(3)) & hca::psn_mask);
    completion.set_message_limit(random_.below(1000));
    completion.set_retry_epoch((sent.retry_epoch() + (settles || !random_.once(6) ? 0 : 1)) % 128);
  }

  // A command of the queue pair, in a PCB; most are right.
  void write_command(uint16_t buffer, const QueuePair& queue_pair) {
    hca::PhysicalCollectBuffer& pcb = model_.buffers[buffer];
    fill(pcb.data.data(), pcb.data.size());
    pcb.execution.message_length = random_.bits();
    spec::CommandHeader header = pcb.header();
    const spec::Opcode opcode = some_opcode(queue_pair);
    header.set_opcode(opcode);
    header.set_fence(random_.once(4));
    const bool is_local = spec::operation_of(opcode).ordering == spec::OperationOrdering::local;
    const bool is_sent = spec::operation_of(opcode).data == spec::OperationData::sent;
    const bool is_wrong = random_.once(40);
    header.set_inline_data(is_local ? is_wrong : is_wrong || is_sent ? random_.below(2) : 0);
    const uint32_t entries = random_.once(3) ? random_.below(spec::gather_entries + 1) : random_.below(3);
    header.set_gather_count(is_local || header.inline_data() != 0 ? is_wrong : entries);
    if (is_local)
      header.set_length(opcode == spec::Opcode::bind_memory_window ? spec::BindEntry::bytes : 0);
    else
      header.set_length(header.inline_data() != 0 ? random_.below(spec::command_payload_bytes + 1)
                                                  : entries * spec::GatherEntry::bytes);
    if (random_.once(60))
      header.set_length(random_.below(spec::command_payload_bytes + 1));
    if (!handles.empty() && !random_.once(8)) {
      const Handle& handle = handles[random_.below(static_cast<uint32_t>(handles.size()))];
      const uint32_t wrong_bit =
          random_.once(2) ? 16 + random_.below(8) : random_.below(32); // of its generation, or any
      header.set_address_handle(handle.number ^ (random_.once(8) ? 1U << wrong_bit : 0));
    }
    std::memcpy(pcb.data.data(), &header, sizeof header);
    const uint32_t scale = random_.below(6);
    for (uint32_t entry = 0; entry < spec::gather_entries; ++entry)
      write_length(pcb, entry, scale, entries);
  }

  // A queue pair whose next commands execute.
  void settle(const QueuePair& queue_pair) {
    hca::QueuePairParts& own = parts(queue_pair);
    own.control.set_state(spec::QueuePairState::ready_to_send);
    own.control.set_service_type(spec::ServiceType::reliable_connection);
    own.control.set_destroying(0);
    own.control.set_send_error(0);
    own.control.set_send_queue_log2(15);
    own.requester.set_posted(own.requester.next() - 1);
    own.requester.set_hold(spec::SendHold::none);
    hca::TransportCompletion& completion = own.transport().completion();
    const hca::TransportRequester& sent = own.transport().requester();
    completion.set_receiver_not_ready_wait(0);
    completion.set_retry_epoch(sent.retry_epoch());
    completion.set_unacknowledged_psn(sent.next_psn());
  }
  // A SEND of 8 B, inline.
  void write_plain_command(uint16_t buffer) {
    spec::CommandHeader header = model_.buffers[buffer].header();
    header.set_opcode(spec::Opcode::send);
    header.set_fence(0);
    header.set_inline_data(1);
    header.set_gather_count(0);
    header.set_length(8);
    std::memcpy(model_.buffers[buffer].data.data(), &header, sizeof header);
  }

private:
  void fill(void* target, size_t bytes) {
    auto* const to = static_cast<uint8_t*>(target);
    for (size_t each = 0; each < bytes; ++each)
      to[each] = static_cast<uint8_t>(random_.bits());
  }
  uint16_t near(uint16_t number) {
    return static_cast<uint16_t>(random_.once(24) ? random_.bits() : number - 1 + random_.below(4));
  }
  spec::Opcode some_opcode(const QueuePair& queue_pair) {
    if (random_.once(40))
      return static_cast<spec::Opcode>(random_.below(random_.once(4) ? 256 : spec::operation_opcodes));
    const spec::ServiceType service = parts(queue_pair).control.service_type();
    for (;;) {
      const auto opcode = static_cast<spec::Opcode>(1 + random_.below(spec::operation_opcodes - 1));
      if (spec::operation_of(opcode).is_of(service))
        return opcode;
    }
  }
  // Lengths of a scale: none, an atomic's, about a packet, any, and sums about the longest message.
  void write_length(hca::PhysicalCollectBuffer& pcb, uint32_t entry, uint32_t scale, uint32_t entries) {
    uint32_t length = 0;
    switch (scale) {
    case 0:
      break;
    case 1:
      length = entry == 0 ? 8 : 0;
      break;
    case 2:
      length = (256U << random_.below(5)) + random_.below(3) - 1;
      break;
    case 3:
      length = random_.below(20'000);
      break;
    case 4:
      length = static_cast<uint32_t>(random_.bits());
      break;
    default:
      length = static_cast<uint32_t>((uint64_t{1} << 31) / std::max(1U, entries)) + random_.below(2);
    }
    const size_t place =
        spec::CommandHeader::bytes + size_t{entry} * spec::GatherEntry::bytes + sizeof(uint64_t);
    std::memcpy(pcb.data.data() + place, &length, sizeof length);
  }

  Random& random_;
  FetchModel& model_;
};

} // namespace fpga_verbs::bench
