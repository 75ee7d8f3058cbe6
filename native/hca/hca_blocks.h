#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/base/data_unit_counts.h"
#include "hca/base/device_registers.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/block_makers.h"
#include "hca/collect/collect_buffer.h"
#include "hca/collect/kick_records.h"
#include "hca/complete/completion.h"
#include "hca/complete/completion_queue.h"
#include "hca/complete/event_queue.h"
#include "hca/kick/lane_map_reader.h"
#include "hca/kick/virtual_kick.h"
#include "hca/management/management_queue.h"
#include "hca/management/resource_manager.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_access.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/multicast_groups.h"
#include "hca/port/packet_memory.h"
#include "hca/port/port.h"
#include "hca/port/port_attributes.h"
#include "hca/port/port_states.h"
#include "hca/queue_pair/address_handles.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/descriptor_fetch.h"
#include "hca/receive/dma_validation.h"
#include "hca/receive/packet_receiver.h"
#include "hca/receive/receive.h"
#include "hca/receive/receive_queue_entry_handler.h"
#include "hca/receive/shared_receive_queues.h"
#include "hca/registers/control_registers.h"
#include "hca/registers/identity_registers.h"
#include "hca/registers/underlying_function_registers.h"
#include "hca/respond/responder_resources.h"
#include "hca/respond/response.h"
#include "hca/respond/response_reads.h"
#include "hca/send_queue/queue_pair_fetch.h"
#include "hca/send_queue/queue_reader.h"
#include "hca/send_queue/send_queue_reader.h"
#include "hca/send_queue/send_queue_scheduler.h"
#include "hca/transmit/dma.h"
#include "hca/transmit/packet_builder.h"
#include "hca/transmit/packet_templates.h"
#include "spec/data_units.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace fpga_verbs::hca {

// What an HCA is made of: its blocks, and the links between them.
//
//   BAR writes → collect_buffer → virtual_kick → queue_pair_fetch → dma → packet_builder → port
//                     ↑                 ↑ send_queue_scheduler ↔ queue_pair_fetch ← completion
//                     └ dedicated PCBs: send_queue_scheduler, resource_manager
//   port → packet_receiver → receive → receive_queue_entry_handler → dma_validation → response → port
//                     │         ↕ descriptor_fetch
//                     └ answers: completion
//
// Linked list queues keep queue pairs apart where one of them can wait while another goes on: virtual_kick
// (by lane), queue_pair_fetch, dma, packet_builder, completion, receive, descriptor_fetch,
// receive_queue_entry_handler, dma_validation, response.
//
// Shared by blocks: queue_pair_state_cache, memory_translation and, behind both, context_memory. event_queue
// takes the events of all. The registers are windows on the blocks.
struct HcaBlocks {
  HcaBlocks(const HcaParameters& board_parameters, Counters& counters, HostPort& host, const Clock& clock,
            const PortAttachments& attachments, const BlockMakers& makers);
  HcaBlocks(const HcaBlocks&) = delete;
  HcaBlocks& operator=(const HcaBlocks&) = delete;

  // Takes up to `limit` steps, in each of which a ready block works on one data unit; the ready blocks take
  // turns of several steps. Gives the number taken. Fewer: no block is ready.
  unsigned run(unsigned limit);
  // Wakes the blocks whose deadline has come.
  void look_at_clock();
  // Something has happened on a link of a port.
  void notify_port();
  // The earliest deadline of a block; ~0: none.
  uint64_t next_deadline() const;

  // The control function has written whether the device is enabled. One that is disabled takes and gives no
  // packet, and its queue pairs go to error, which completes what is posted as flushed; registers, kick
  // records and events go on (US8589610, physical function: to disable the host channel adapter).
  void follow_enable();

  void reset_function(unsigned underlying_function);
  const char* verify() const;
  // Likewise when there is nothing to do and nothing is on its way.
  const char* verify_at_rest() const;

  const HcaParameters& parameters;
  SampledClock sampled_clock;
  DeviceRegisters device;
  DataUnitCounts data_unit_counts;
  ReadyBlocks ready;

  // Links, each from its producer to its consumer.
  DataLink<spec::KickUnit, 128> kicks_collected;           // collect_buffer → virtual_kick
  DataLink<spec::KickUnit, 16> kicks_scheduled;            // send_queue_scheduler → virtual_kick
  DataLink<spec::PostNotice, 16> post_notices;             // collect_buffer → queue_pair_fetch
  DataLink<spec::ManagementUnit, 16> management_units;     // collect_buffer → resource_manager
  DataLink<spec::KickUnit, 8> kicks_started;               // virtual_kick → queue_pair_fetch
  DataLink<spec::KickUnit, 8> executions;                  // queue_pair_fetch → dma
  DataLink<spec::ScheduleRequest, 16> schedule_requests;   // queue_pair_fetch → send_queue_scheduler
  DataLink<spec::ScheduleDone, 16> schedule_dones;         // send_queue_scheduler → queue_pair_fetch
  DataLink<spec::FinishUnit, 16> finishes_handed_back;     // queue_pair_fetch → virtual_kick
  DataLink<spec::FinishUnit, 16> finishes_sent;            // packet_builder → virtual_kick
  DataLink<spec::FinishUnit, 16> finishes_completed;       // completion → virtual_kick
  DataLink<spec::PacketUnit, 16> packets_gathered;         // dma → packet_builder
  DataLink<spec::MessageUnit, 16> messages;                // packet_builder → completion
  DataLink<spec::QueuePairNotice, 16> progress_notices;    // completion → queue_pair_fetch
  DataLink<spec::QueuePairNotice, 16> flushes;             // completion → receive
  DataLink<spec::PacketUnit, 4> requests_built;            // packet_builder → port
  DataLink<spec::PacketUnit, 4> responses_built;           // response → port
  DataLink<spec::PacketUnit, 16> packets_arrived;          // port → packet_receiver
  DataLink<spec::PacketUnit, 16> responses_arrived;        // packet_receiver → completion
  DataLink<spec::PacketUnit, 16> requests_arrived;         // packet_receiver → receive
  DataLink<spec::QueuePairNotice, 16> descriptors_wanted;  // receive → descriptor_fetch
  DataLink<spec::QueuePairNotice, 16> descriptors_fetched; // descriptor_fetch → receive
  DataLink<spec::ReceiveUnit, 16> requests_accepted;       // receive → receive_queue_entry_handler
  DataLink<spec::ReceiveUnit, 16> requests_placed;         // receive_queue_entry_handler → dma_validation
  DataLink<spec::AnswerUnit, 16> answers;                  // dma_validation → response

  // Blocks, those that others refer to first.
  EventQueue event_queue;
  ContextMemory context_memory;
  MemoryTranslation memory_translation;
  QueuePairStateCache queue_pair_state_cache;
  CompletionQueue completion_queue;
  KickRecords kick_records;
  const std::unique_ptr<CollectBuffer> made_collect_buffer;
  CollectBuffer& collect_buffer;
  ManagementQueue management_queue;
  LaneMapReader lane_map_reader;
  const std::unique_ptr<VirtualKick> made_virtual_kick;
  VirtualKick& virtual_kick;
  AddressHandles address_handles;
  QueuePairFetch queue_pair_fetch;
  QueueReader queue_reader;
  SendQueueReader send_queue_reader;
  SendQueueScheduler send_queue_scheduler;
  MemoryAccess memory_access;
  SharedReceiveQueues shared_receive_queues;
  DescriptorFetch descriptor_fetch;
  PacketMemory packet_memory;
  PortAttributes port_attributes;
  PortStates port_states;
  MulticastGroups multicast_groups;
  PacketTemplates packet_templates;
  Dma dma;
  PacketBuilder packet_builder;
  Completion completion;
  Port port;
  PacketReceiver packet_receiver;
  ResponderResources responder_resources;
  Receive receive;
  ReceiveQueueEntryHandler receive_queue_entry_handler;
  ResponseReads response_reads;
  DmaValidation dma_validation;
  Response response;
  ResourceManager resource_manager;

  ControlRegisters control_registers;
  std::vector<IdentityRegisters> identity_registers;           // by the function that reads
  std::vector<UnderlyingFunctionRegisters> function_registers; // by function

private:
  void fail_queue_pairs(unsigned underlying_function);
  void count_data_units(const DeviceCounters& device_counters);

  // Whether a PCB or a kicked command of the function is left.
  bool is_in_flight(unsigned underlying_function) const;

  // The blocks that step, by their bit in `ready`.
  std::array<Block*, 17> stepped_;
};

} // namespace fpga_verbs::hca
