#pragma once

#include "receive_queue_pairs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {

// The queue pairs of the bench: their contexts in the model and as RTL writes them, and the changes that the
// resource manager and other blocks make to them.
class ReceivingQueuePairs {
public:
  ReceivingQueuePairs(const Place& place, Random& random, ReceiveModel& model)
      : place_(place), random_(random), model_(model) {}

  static constexpr unsigned functions = UNDERLYING_FUNCTIONS;

  std::vector<std::shared_ptr<ReceivingQueuePair>> live;
  uint64_t resets = 0;

  void set_any_time(spec::QueuePairControl& control) {
    control.set_access_flags(random_.once(4) ? random_.below(64) : 63);
    control.set_min_receiver_not_ready_timer(random_.below(32));
  }

  void create() {
    const auto made = std::make_shared<ReceivingQueuePair>(model_);
    made->function = random_.below(functions);
    const auto number = model_.queue_pairs.create(made->function, some_control());
    if (!number)
      differ(place_, "numbers of the model", 1, 0);
    made->number = *number;
    // As after long use.
    spec::QueuePairResponder begun{};
    begun.set_expected_psn(random_.once(2) ? 0xff'ffff - random_.below(40)
                                           : static_cast<uint32_t>(random_.bits() & 0xff'ffff));
    begun.set_message_sequence_number(random_.once(2) ? 0xff'ffff - random_.below(40)
                                                      : static_cast<uint32_t>(random_.bits() & 0xff'ffff));
    const uint32_t count = random_.below(256);
    begun.set_read_atomic_head(count);
    begun.set_read_atomic_tail(count);
    begun.set_repeated_reads_answered(255 - count);
    begun.set_repeated_reads_accepted(255 - count);
    put_model(*made, begun);
    made->rtl.responder = begun;
    live.push_back(made);
  }

  spec::QueuePairControl& control(const ReceivingQueuePair& of) {
    return model_.queue_pairs.parts(of.function, of.number)->control;
  }
  spec::QueuePairResponder model_responder(const ReceivingQueuePair& of) {
    spec::QueuePairResponder responder;
    std::memcpy(&responder, &model_.queue_pairs.parts(of.function, of.number)->responder, sizeof responder);
    return responder;
  }
  void put_model(const ReceivingQueuePair& of, const spec::QueuePairResponder& responder) {
    std::memcpy(static_cast<void*>(&model_.queue_pairs.parts(of.function, of.number)->responder), &responder,
                sizeof responder);
  }
  ReceivingQueuePair* find(uint32_t number) {
    const auto found =
        std::ranges::find_if(live, [number](const auto& each) { return each->number == number; });
    return found == live.end() ? nullptr : found->get();
  }
  ReceivingQueuePair& at(uint32_t number, const char* what) {
    ReceivingQueuePair* const found = find(number);
    if (found == nullptr)
      differ(place_, what, number, 0);
    return *found;
  }
  static bool is_idle(const ReceivingQueuePair& of) { return of.units.empty() && !of.flush_begins; }
  bool receives(const ReceivingQueuePair& of) {
    return !of.is_gone && control(of).state() != spec::QueuePairState::error && !control(of).destroying();
  }
  bool exposes(const ReceivingQueuePair::Unit& unit) const {
    const hca::Packet& packet = model_.packets[unit.model_packet];
    return packet.payload_bytes != packet.parsed.payload_bytes;
  }
  // A duplicate READ or atomic: RTL requests the context again after the search.
  bool is_searched_for(const ReceivingQueuePair& of, const ReceivingQueuePair::Unit& unit) {
    const auto found = model_.queue_pairs.find(unit.function, of.number);
    if (!found)
      return false;
    const spec::QueuePairControl& known = found->control;
    const wire::ParsedPacket& parsed = model_.packets[unit.model_packet].parsed;
    const spec::PacketOperation operation = parsed.traits().operation;
    const spec::QueuePairState state = known.state();
    return known.service_type() == spec::ServiceType::reliable_connection && !known.destroying() &&
           (state == spec::QueuePairState::ready_to_receive || state == spec::QueuePairState::ready_to_send ||
            state == spec::QueuePairState::send_queue_drained ||
            state == spec::QueuePairState::send_queue_error) &&
           (operation == spec::PacketOperation::rdma_read_request ||
            operation == spec::PacketOperation::compare_and_swap ||
            operation == spec::PacketOperation::fetch_and_add) &&
           hca::psn_distance(static_cast<uint32_t>(model_responder(of).expected_psn()),
                             parsed.fields.packet_sequence_number) < 0;
  }

  // The resource manager connects it again.
  void begin_anew(ReceivingQueuePair& of) {
    set_rest(control(of));
    spec::QueuePairResponder responder = model_responder(of);
    if (random_.once(3))
      responder.set_communication_established(0);
    if (random_.once(3)) {
      // A message that is nearly too long.
      responder.set_current_message(random_.once(2) ? spec::ReceiveMessage::send
                                                    : spec::ReceiveMessage::rdma_write);
      responder.set_current_offset(0x8000'0000 - random_.below(600));
      responder.set_current_length(0x8000'0000 - random_.below(2) * random_.below(300));
    }
    if (random_.once(3)) {
      // Many duplicates to be answered, which response does later or never.
      const uint32_t repeated =
          random_.once(2) ? spec::read_atomic_maximum + random_.below(2) : random_.below(16);
      responder.set_repeated_reads_accepted(responder.repeated_reads_answered() + repeated);
      of.repeated_reads = random_.once(2) ? repeated : 0;
    }
    put_model(of, responder);
    set_receive(of.rtl, responder);
  }

  void create_again(ReceivingQueuePair& gone) {
    const auto found = std::ranges::find_if(live, [&gone](const auto& each) { return each.get() == &gone; });
    former_.push_back(*found); // an answer may still use its number
    if (former_.size() > 64)
      former_.erase(former_.begin());
    live.erase(found);
    create();
  }

  void reset_function(unsigned function) {
    model_.queue_pairs.reset_function(function);
    for (const auto& each : live)
      if (each->function == function)
        each->is_gone = true;
    ++resets;
  }

  // response answers, and other blocks write fields that receive does not own.
  void answer_for_others(ReceivingQueuePair& of, uint32_t percent) {
    spec::QueuePairResponder responder = model_responder(of);
    if (of.resources != 0 && random_.percent(percent)) {
      --of.resources;
      responder.set_read_atomic_head(responder.read_atomic_head() + 1);
    }
    if (of.repeated_reads != 0 && random_.percent(percent)) {
      --of.repeated_reads;
      responder.set_repeated_reads_answered(responder.repeated_reads_answered() + 1);
    }
    put_model(of, responder);
    set_response(of.rtl, responder);
    if (!random_.once(8))
      return;
    spec::QueuePairResponder others;
    std::array<uint8_t, sizeof others> bytes;
    fill(random_, bytes);
    std::memcpy(&others, bytes.data(), sizeof others);
    set_validation(of.rtl, others);
    of.rtl.responder.set_receive_head(others.receive_head());
    of.rtl.responder.set_receive_prefetched(others.receive_prefetched());
  }

  // All queue pairs exist, are in RTS, and expect packets of RC.
  void make_ready() {
    for (uint32_t at = 0; at < live.size(); ++at) {
      if (!live[at]->is_gone)
        continue;
      create_again(*live[at]);
      at = ~0U;
    }
    for (const auto& each : live)
      make_ready(*each);
  }

  void compare_context(const ReceivingQueuePair& of) {
    ResponderPart expected = of.rtl;
    set_receive(expected, model_responder(of));
    for (size_t word = 0; word < std::size(expected.responder.dwords); ++word)
      if (of.rtl.responder.dwords[word] != expected.responder.dwords[word])
        differ(place_, "DWORD of a context", uint64_t{of.rtl.responder.dwords[word]} << 8 | word,
               uint64_t{expected.responder.dwords[word]} << 8 | word);
  }

  // At rest.
  void verify() {
    for (const auto& each : live) {
      if (each->receive.verify() != nullptr)
        differ(place_, each->receive.verify(), 0, 1);
      if (!each->is_gone)
        compare_context(*each);
    }
  }

private:
  void make_ready(ReceivingQueuePair& of) {
    spec::QueuePairControl& own = control(of);
    own.set_service_type(spec::ServiceType::reliable_connection);
    own.set_state(spec::QueuePairState::ready_to_send);
    own.set_destroying(0);
    own.set_path_mtu(spec::PathMtu::mtu_1024);
    own.set_access_flags(63);
    spec::QueuePairResponder responder = model_responder(of);
    responder.set_current_message(spec::ReceiveMessage::none);
    responder.set_receive_kept(0);
    put_model(of, responder);
    set_receive(of.rtl, responder);
    ReceiveTraffic::resume(of, responder);
  }

  spec::QueuePairControl some_control() {
    spec::QueuePairControl control{};
    control.set_service_type(std::array{
        spec::ServiceType::reliable_connection, spec::ServiceType::reliable_connection,
        spec::ServiceType::unreliable_connection, spec::ServiceType::unreliable_datagram}[random_.below(4)]);
    set_rest(control);
    return control;
  }
  // Fields that change only while no unit of the queue pair is in flight.
  void set_rest(spec::QueuePairControl& control) {
    control.set_state(std::array{spec::QueuePairState::ready_to_receive,
                                 spec::QueuePairState::ready_to_receive, spec::QueuePairState::ready_to_send,
                                 spec::QueuePairState::send_queue_drained,
                                 spec::QueuePairState::send_queue_error,
                                 random_.once(4) ? spec::QueuePairState::init
                                                 : spec::QueuePairState::ready_to_send}[random_.below(6)]);
    control.set_destroying(0);
    control.set_path_mtu(static_cast<spec::PathMtu>(random_.once(2) ? 1 : 1 + random_.below(5)));
    control.set_max_destination_read_atomic(std::array{16U, 16U, 1U, 4U, 0U, 40U}[random_.below(6)]);
    control.set_shared_receive_queue(random_.once(3) ? 1 + random_.below(1000) : 0);
    set_any_time(control);
  }

  const Place& place_;
  Random& random_;
  ReceiveModel& model_;
  std::vector<std::shared_ptr<ReceivingQueuePair>> former_;
};

} // namespace fpga_verbs::bench
