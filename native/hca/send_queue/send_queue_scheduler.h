#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/collect/kick_records.h"
#include "hca/kick/virtual_kick_port.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/send_queue/queuing_structures.h"
#include "hca/send_queue/send_queue_reader.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/registers.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// Fetches commands from send queues in host memory: those that found no PCB or arrived out of order
// (US8589610, send queue scheduler). Queue pairs wait in the queuing structures. Each turn fetches the next
// commands of one of them, at most a batch, into dedicated PCBs, and kicks them.
//
// The block fetches nothing for which virtual_kick's lists have no room: the queue pair waits for room.
// Commands that would wait on their list for a credit take at most one dedicated PCB per lane, and never the
// last one, so lanes with credits continue.
class SendQueueScheduler final : public Block {
public:
  SendQueueScheduler(const HcaParameters& parameters, Counters& counters, HostPort& host,
                     CollectBufferPort& collect_buffer, PhysicalCollectBuffers& buffers,
                     QueuePairStateCache& queue_pairs, VirtualKickPort& virtual_kick,
                     WaitingForRoom& waiting_for_room, SendQueueReader& send_queues, EventPort& events,
                     KickRecords& kick_records, DataLink<spec::ScheduleRequest>& schedule_requests,
                     DataLink<spec::KickUnit>& kicks_scheduled, DataLink<spec::ScheduleDone>& schedule_dones);

  // Takes one request, removes one queue pair from a condemned FIFO, and starts a turn or fetches one
  // command.
  bool step() override;

  // Registers queuing_structure_address and _size of a function.
  void set_queuing_structure_address(unsigned underlying_function, spec::QualityOfServiceLevel level,
                                     uint64_t address) {
    structures_.set_address(underlying_function, level, address);
  }
  uint64_t queuing_structure_address(unsigned underlying_function, spec::QualityOfServiceLevel level) const {
    return structures_.address(underlying_function, level);
  }
  void set_queuing_structure_size(unsigned underlying_function,
                                  spec::underlying_function::QueuingStructureSize size) {
    structures_.set_size(underlying_function, size);
  }
  spec::underlying_function::QueuingStructureSize queuing_structure_size(unsigned underlying_function) const {
    return structures_.size(underlying_function);
  }

  // Clears the pending fetches of a function's queue pairs, which are gone already; no DMA for them follows.
  void reset_function(unsigned underlying_function) { structures_.reset_function(underlying_function); }

  // For tests.
  const char* verify() const {
    return structures_.verify() ? nullptr : "send_queue_scheduler: the queuing structures are inconsistent";
  }

private:
  // The queue pair that is being served.
  struct Turn {
    bool active = false;
    uint8_t underlying_function = 0;
    uint16_t fetch_next = 0;
    uint32_t queue_pair_number = 0;
    unsigned fetched = 0;       // commands of this turn
    bool lacked_buffer = false; // it was counted
  };

  bool take_request();
  bool turn_out();
  bool serve();
  bool begin_turn();
  void begin_turn(unsigned underlying_function, uint32_t queue_pair_number);
  std::optional<unsigned> place_with_room();
  bool takes(unsigned place);
  bool takes_another(unsigned lane) const;
  bool wait_for_room(const WaitingForRoom::Waiter& queue_pair, unsigned lane, bool bound);
  void end_turn(spec::Refusal refusal);
  bool has_more(const QueuePairParts& queue_pair) const;
  void fetch(const spec::QueuePairControl& control, uint16_t buffer);
  void kick(uint16_t buffer);
  void push_done(unsigned underlying_function, uint32_t queue_pair_number, uint32_t fetch_next,
                 spec::Refusal refusal);

  const HcaParameters& parameters_;
  Counters& counters_;
  CollectBufferPort& collect_buffer_;
  PhysicalCollectBuffers& buffers_;
  QueuePairStateCache& queue_pairs_;
  VirtualKickPort& virtual_kick_;
  WaitingForRoom& waiting_for_room_;
  SendQueueReader& send_queues_;
  KickRecords& kick_records_;
  DataLink<spec::ScheduleRequest>& schedule_requests_;
  DataLink<spec::KickUnit>& kicks_scheduled_;
  DataLink<spec::ScheduleDone>& schedule_dones_;

  QueuingStructures structures_;
  Turn turn_;
  bool structures_next_ = false; // they and those that waited for room take turns
  unsigned last_place_ = 0;
};

} // namespace fpga_verbs::hca
