#pragma once

#include "hca/block.h"
#include "hca/counters.h"
#include "hca/data_link.h"
#include "hca/descriptor_fetch.h"
#include "hca/event_port.h"
#include "hca/packet_memory.h"
#include "hca/queue_pair_state_cache.h"
#include "hca/request_checks.h"
#include "spec/contexts.h"
#include "spec/data_units.h"
#include "spec/enums.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Decides what becomes of a request packet: executed, answered again, refused or dropped (InfiniBand volume
// 1, 9.7). The one writer of spec::QueuePairResponder, but for the fields that name another. Everything that
// is accepted of a queue pair goes one way from here, so that it is executed and answered in its order; a
// refusal goes that way too.
//
// What it sets in a packet's Packet: answer_psn and message_sequence_number, always; syndrome of a refusal;
// for what is executed first, last, message_offset, of RDMA and atomics message_length, remote_address and
// remote_key, of a receive work request that it takes receive_*; duplicate.
class Receive final : public Block {
public:
  Receive(Counters& counters, PacketMemory& packets, QueuePairStateCache& queue_pairs,
          DescriptorFetch& descriptors, EventPort& events, DataLink<spec::PacketUnit, 16>& requests_arrived,
          DataLink<spec::QueuePairNotice, 16>& flushes, DataLink<spec::ReceiveUnit, 16>& requests_accepted);

  // Takes one flush or one packet.
  bool step() override;

private:
  // Whose packet it is, and what of the control part is needed while the responder part is changed.
  struct Request {
    spec::PacketUnit unit;
    spec::QueuePairState state = spec::QueuePairState::reset;
    uint32_t mtu = 0; // bytes
    uint8_t receiver_not_ready_timer = 0;
    bool is_reliable = true;
  };

  bool take_flush();
  void flush(unsigned underlying_function, uint32_t queue_pair_number);
  void take_request(const spec::PacketUnit& unit);
  void execute(const Request& request);
  void repeat(const Request& request);
  void refuse(const Request& request, uint8_t syndrome);
  void lose(const Request& request);
  static void lose_message(spec::QueuePairResponder& responder);
  void drop(const spec::PacketUnit& unit);
  bool take_receive(const Request& request);
  static void describe(spec::QueuePairResponder& responder, Packet& packet);
  void establish(const Request& request, spec::QueuePairResponder& responder);
  void accept(const spec::PacketUnit& unit, spec::ReceiveAction action);
  spec::QueuePairResponder& responder_of(const spec::PacketUnit& unit);

  Counters& counters_;
  PacketMemory& packets_;
  QueuePairStateCache& queue_pairs_;
  DescriptorFetch& descriptors_;
  EventPort& events_;
  DataLink<spec::PacketUnit, 16>& requests_arrived_;
  DataLink<spec::QueuePairNotice, 16>& flushes_;
  DataLink<spec::ReceiveUnit, 16>& requests_accepted_;
};

} // namespace fpga_verbs::hca
