#pragma once

#include "receive_model.h"

#include "hca/base/packet_sequence_number.h"
#include "spec/enums.h"
#include "spec/packet_opcodes.h"
#include "wire/packet_parse.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

namespace fpga_verbs::bench {

// A request that its peer has sent.
struct SentRequest {
  spec::PacketOpcode opcode{};
  uint32_t psn = 0;
  uint64_t address = 0;
  uint32_t key = 0;
  uint32_t length = 0;
};

// A queue pair that receives: of RTL, of the model, and of its peer.
struct ReceivingQueuePair {
  explicit ReceivingQueuePair(ReceiveModel& model) : receive(model) {}

  uint32_t number = 0;
  unsigned function = 0;
  bool is_gone = false; // destroyed with its function
  bool refuses_pins = false;
  ResponderPart rtl; // its context as RTL writes it
  ModelReceive receive;
  uint64_t written_by = 0; // clock by which RTL has written what it asked for

  // Units in RTL, in its order.
  struct Unit {
    bool is_flush = false;
    unsigned function = 0;
    uint32_t handle = 0;       // of RTL
    uint16_t model_packet = 0; // of the model
  };
  std::deque<Unit> units;
  bool is_searching = false;
  bool is_waiting = false;     // for a receive work request
  std::optional<bool> fetched; // taken, or none was available; the unit continues
  bool flush_begins = false;   // a flush is pinned or looked at

  // Units that have to leave RTL, in its order.
  struct Accepted {
    Unit unit;
    spec::ReceiveAction action{};
    hca::Packet record;
  };
  std::deque<Accepted> accepted;
  std::deque<Unit> dropped;
  uint32_t ignored = 0; // flushes
  uint32_t wanted = 0;
  uint32_t events = 0;

  // Questions to other blocks that await an answer.
  uint32_t resources = 0;
  uint32_t repeated_reads = 0;

  // The peer.
  uint32_t psn = 0;
  spec::ReceiveMessage message{};
  uint64_t left = 0;            // of an RDMA WRITE, bytes
  std::deque<SentRequest> sent; // the newest ones
};

// Packets to a queue pair as its peer sends them, with some lost, repeated, out of order, or wrong.
class ReceiveTraffic {
public:
  explicit ReceiveTraffic(Random& random) : random_(random) {}

  // The peer continues from the state of the queue pair.
  static void resume(ReceivingQueuePair& to, const spec::QueuePairResponder& responder) {
    to.psn = static_cast<uint32_t>(responder.expected_psn());
    to.message = responder.current_message();
    to.left = uint64_t{static_cast<uint32_t>(responder.current_length())} - responder.current_offset();
  }

  wire::ParsedPacket some_packet(ReceivingQueuePair& to, const spec::QueuePairControl& control) {
    wire::ParsedPacket packet;
    fill_at_random(packet, to.number);
    const uint32_t mtu = hca::path_mtu_bytes(static_cast<uint32_t>(control.path_mtu()));
    const bool is_reliable = control.service_type() == spec::ServiceType::reliable_connection;
    if (is_reliable && !to.sent.empty() && random_.once(5)) {
      repeat(to, packet, mtu);
      return packet;
    }
    wire::PacketFields& fields = packet.fields;
    fields.opcode = some_opcode(to, control.service_type());
    if (random_.once(24))
      fields.opcode = any_opcode(control.service_type());
    const spec::PacketOpcodeTraits& traits = packet.traits();
    if (random_.once(24))
      to.psn = hca::psn_add(to.psn, 1 + random_.below(3)); // some are lost
    fields.packet_sequence_number =
        random_.once(50) ? static_cast<uint32_t>(random_.bits() & hca::psn_mask) : to.psn;
    packet.payload_bytes = static_cast<uint16_t>(some_payload(to, traits, mtu));
    if (traits.operation == spec::PacketOperation::rdma_read_request)
      fields.dma_length = random_.once(40)  ? 0x7fff'ffff + random_.below(3)
                          : random_.once(8) ? 0
                                            : random_.below(6 * mtu);
    else if (traits.operation == spec::PacketOperation::rdma_write && traits.begins_message())
      begin_write(to, packet);
    else if (traits.operation != spec::PacketOperation::rdma_write)
      fields.virtual_address &= random_.once(8) ? ~uint64_t{0} : ~uint64_t{7};
    if (random_.once(24))
      packet.payload_bytes = static_cast<uint16_t>(
          std::array{0U, mtu, mtu + 1, mtu - 1, random_.below(2 * mtu)}[random_.below(5)]);
    go_on(to, packet, mtu);
    return packet;
  }

  // A valid, whole message: for streams.
  wire::ParsedPacket whole_packet(ReceivingQueuePair& to, spec::PacketOpcode opcode, uint32_t bytes) {
    wire::ParsedPacket packet;
    fill_at_random(packet, to.number);
    packet.fields.opcode = opcode;
    packet.fields.packet_sequence_number = to.psn;
    packet.fields.dma_length = bytes;
    packet.payload_bytes = static_cast<uint16_t>(bytes);
    to.psn = hca::psn_add(to.psn, 1);
    return packet;
  }

private:
  static constexpr uint32_t low_bits = 31; // of an opcode: the same in each service
  static constexpr size_t remembered = 24;

  void fill_at_random(wire::ParsedPacket& packet, uint32_t number) {
    packet.framing = static_cast<wire::PacketFraming>(random_.below(4));
    packet.network_offset = 14;
    packet.destination_queue_pair = number;
    packet.fields.virtual_address = random_.bits();
    packet.fields.remote_key = static_cast<uint32_t>(random_.bits());
    packet.fields.dma_length = static_cast<uint32_t>(random_.bits());
    packet.fields.immediate_data = static_cast<uint32_t>(random_.bits());
  }

  spec::PacketOpcode any_opcode(spec::ServiceType service) {
    for (;;) {
      const auto opcode = static_cast<spec::PacketOpcode>(random_.below(256));
      const spec::PacketOpcodeTraits& traits = spec::traits_of(opcode);
      if (traits.is_known && traits.service == service &&
          traits.operation != spec::PacketOperation::congestion_notification)
        return opcode;
    }
  }

  // An opcode that may come next.
  spec::PacketOpcode some_opcode(const ReceivingQueuePair& to, spec::ServiceType service) {
    for (;;) {
      const spec::PacketOpcode opcode = any_opcode(service);
      const spec::PacketOpcodeTraits& traits = spec::traits_of(opcode);
      const bool is_send = traits.operation == spec::PacketOperation::send;
      const bool is_write = traits.operation == spec::PacketOperation::rdma_write;
      if (to.message == spec::ReceiveMessage::none) {
        if (traits.is_response() || traits.operation == spec::PacketOperation::reserved ||
            !traits.begins_message())
          continue;
        return service == spec::ServiceType::reliable_connection && random_.once(4)
                   ? spec::PacketOpcode::reliable_connection_rdma_read_request
                   : opcode;
      }
      if (traits.begins_message()
              ? !random_.once(60)
              : to.message != (is_send ? spec::ReceiveMessage::send : spec::ReceiveMessage::rdma_write))
        continue;
      if (is_send || is_write || traits.begins_message())
        return opcode;
    }
  }

  uint32_t some_payload(const ReceivingQueuePair& to, const spec::PacketOpcodeTraits& traits, uint32_t mtu) {
    if (!traits.has_payload)
      return 0;
    if (!traits.ends_message())
      return mtu;
    if (traits.begins_message())
      return random_.below(mtu + 1);
    return traits.operation == spec::PacketOperation::rdma_write && to.left != 0 && to.left <= mtu
               ? static_cast<uint32_t>(to.left)
               : 1 + random_.below(mtu);
  }

  // Its length, with an error now and then.
  void begin_write(ReceivingQueuePair& to, wire::ParsedPacket& packet) {
    const uint32_t behind = packet.traits().ends_message() ? 0 : 1 + random_.below(3 * packet.payload_bytes);
    packet.fields.dma_length = packet.payload_bytes + behind;
    if (random_.once(24))
      packet.fields.dma_length = std::array{packet.fields.dma_length + 1, packet.fields.dma_length - 1,
                                            uint32_t{packet.payload_bytes}, uint32_t{1} << 31,
                                            (uint32_t{1} << 31) + 1}[random_.below(5)];
    to.left = packet.fields.dma_length;
  }

  // The peer has sent it.
  void go_on(ReceivingQueuePair& to, const wire::ParsedPacket& packet, uint32_t mtu) {
    const wire::PacketFields& fields = packet.fields;
    const spec::PacketOpcodeTraits& traits = packet.traits();
    const bool is_read = traits.operation == spec::PacketOperation::rdma_read_request;
    to.sent.push_back({.opcode = fields.opcode,
                       .psn = fields.packet_sequence_number,
                       .address = fields.virtual_address,
                       .key = fields.remote_key,
                       .length = fields.dma_length});
    if (to.sent.size() > remembered)
      to.sent.pop_front();
    to.psn =
        hca::psn_add(fields.packet_sequence_number, is_read ? hca::packets_of(fields.dma_length, mtu) : 1);
    to.left -= std::min<uint64_t>(to.left, packet.payload_bytes);
    if (traits.ends_message())
      to.message = spec::ReceiveMessage::none;
    else
      to.message = traits.operation == spec::PacketOperation::send ? spec::ReceiveMessage::send
                                                                   : spec::ReceiveMessage::rdma_write;
  }

  // Repeats one of the newest requests, a READ possibly from a later packet on, some with a changed field.
  void repeat(const ReceivingQueuePair& to, wire::ParsedPacket& packet, uint32_t mtu) {
    const SentRequest* again = &to.sent[random_.below(static_cast<uint32_t>(to.sent.size()))];
    for (uint32_t tries = 0; tries < 4 && is_message(again->opcode); ++tries)
      again = &to.sent[random_.below(static_cast<uint32_t>(to.sent.size()))];
    wire::PacketFields& fields = packet.fields;
    fields.opcode = again->opcode;
    fields.packet_sequence_number = again->psn;
    fields.virtual_address = again->address;
    fields.remote_key = again->key;
    fields.dma_length = again->length;
    if (packet.traits().operation == spec::PacketOperation::rdma_read_request && random_.once(2)) {
      const uint32_t skipped = random_.below(hca::packets_of(again->length, mtu));
      fields.packet_sequence_number = hca::psn_add(again->psn, skipped);
      fields.virtual_address += uint64_t{skipped} * mtu;
      fields.dma_length -= skipped * mtu;
      if (random_.once(2))
        fields.dma_length = random_.below(fields.dma_length + 1);
    }
    if (!random_.once(3))
      return;
    switch (random_.below(6)) {
    case 0:
      fields.remote_key ^= 1U << random_.below(32);
      break;
    case 1:
      fields.virtual_address += uint64_t{1} << random_.below(64);
      break;
    case 2:
      fields.virtual_address -= 1 + random_.below(2);
      break;
    case 3:
      fields.dma_length += 1 + random_.below(mtu);
      break;
    case 4:
      fields.packet_sequence_number =
          hca::psn_add(fields.packet_sequence_number, random_.once(2) ? 1 : random_.below(8) - 4);
      break;
    default:
      fields.opcode = static_cast<spec::PacketOpcode>(std::array{12U, 19U, 20U, 17U, 21U}[random_.below(5)]);
    }
  }
  static bool is_message(spec::PacketOpcode opcode) {
    const spec::PacketOperation operation = spec::traits_of(opcode).operation;
    return operation == spec::PacketOperation::send || operation == spec::PacketOperation::rdma_write;
  }

  Random& random_;
};

} // namespace fpga_verbs::bench
