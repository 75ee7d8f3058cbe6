#pragma once

// The parts of an HCA: its blocks, the links between them, and which block wakes which. These tables generate
// everything that must know all of them: the members of HcaLinks and HcaBlocks, wakers, counters of data
// units, resets, deadlines, verify(), the blocks that can be RTL, and the drawing in docs/architecture.md.
//
// Where one queue pair can wait while others continue, linked list queues keep them apart: virtual_kick (by
// lane), queue_pair_fetch, dma, packet_builder, completion, receive, descriptor_fetch,
// receive_queue_entry_handler, dma_validation, response.

// Each link: name, data unit, depth (a power of two), producer, consumer, and whether its data units count
// as having left the producer (registers data_units_…). A push wakes the consumer, a pop the producer that
// missed a credit.
#define FPGA_VERBS_LINKS(LINK)                                                                               \
  LINK(kicks_collected, KickUnit, 128, collect_buffer, virtual_kick, counted)                                \
  LINK(kicks_scheduled, KickUnit, 16, send_queue_scheduler, virtual_kick, counted)                           \
  LINK(post_notices, PostNotice, 16, collect_buffer, queue_pair_fetch, counted)                              \
  LINK(management_units, ManagementUnit, 16, collect_buffer, resource_manager, counted)                      \
  LINK(kicks_started, KickUnit, 8, virtual_kick, queue_pair_fetch, counted)                                  \
  LINK(executions, KickUnit, 8, queue_pair_fetch, dma, counted)                                              \
  LINK(schedule_requests, ScheduleRequest, 16, queue_pair_fetch, send_queue_scheduler, counted)              \
  LINK(schedule_dones, ScheduleDone, 16, send_queue_scheduler, queue_pair_fetch, counted)                    \
  LINK(finishes_handed_back, FinishUnit, 16, queue_pair_fetch, virtual_kick, counted)                        \
  LINK(finishes_sent, FinishUnit, 16, packet_builder, virtual_kick, counted)                                 \
  LINK(finishes_completed, FinishUnit, 16, completion, virtual_kick, counted)                                \
  LINK(packets_gathered, PacketUnit, 16, dma, packet_builder, counted)                                       \
  LINK(messages, MessageUnit, 16, packet_builder, completion, counted)                                       \
  LINK(progress_notices, QueuePairNotice, 16, completion, queue_pair_fetch, counted)                         \
  LINK(flushes, QueuePairNotice, 16, completion, receive, counted)                                           \
  LINK(requests_built, PacketUnit, 16, packet_builder, port, counted)                                        \
  LINK(responses_built, PacketUnit, 16, response, port, counted)                                             \
  LINK(packets_arrived, PacketUnit, 16, port, packet_receiver, uncounted) /* the port counts packets */      \
  LINK(responses_arrived, PacketUnit, 16, packet_receiver, completion, counted)                              \
  LINK(requests_arrived, PacketUnit, 16, packet_receiver, receive, counted)                                  \
  LINK(descriptors_wanted, QueuePairNotice, 16, receive, descriptor_fetch, uncounted)                        \
  LINK(descriptors_fetched, QueuePairNotice, 16, descriptor_fetch, receive, uncounted)                       \
  LINK(requests_accepted, ReceiveUnit, 16, receive, receive_queue_entry_handler, counted)                    \
  LINK(requests_placed, ReceiveUnit, 16, receive_queue_entry_handler, dma_validation, counted)               \
  LINK(answers, AnswerUnit, 16, dma_validation, response, counted)

// Each wake-up that is not a link: the member whose on_…() wakes, the block that it wakes, the event.
#define FPGA_VERBS_WAKES(WAKE)                                                                               \
  WAKE(collect_buffer, send_queue_scheduler, on_dedicated_freed)                                             \
  WAKE(virtual_kick, virtual_kick, on_work)                                                                  \
  WAKE(waiting_for_room, send_queue_scheduler, on_room)                                                      \
  WAKE(management_queue, resource_manager, on_command)                                                       \
  WAKE(queue_pair_state_cache, resource_manager, on_quiet)                                                   \
  WAKE(queue_pair_state_cache, completion, on_ended)                                                         \
  WAKE(memory_translation, resource_manager, on_quiet)                                                       \
  WAKE(memory_translation, dma, on_idle)                                                                     \
  WAKE(memory_translation, dma_validation, on_idle)                                                          \
  WAKE(host_reads, dma, on_payload)                                                                          \
  WAKE(host_reads, response, on_response_payload)                                                            \
  WAKE(completion_queue, completion_queue, on_failed)                                                        \
  WAKE(packet_memory, dma, on_free<PacketUse::request>)                                                      \
  WAKE(packet_memory, response, on_free<PacketUse::response>)                                                \
  WAKE(packet_memory, port, on_free<PacketUse::receive>)                                                     \
  WAKE(shared_receive_queues, descriptor_fetch, on_armed)                                                    \
  WAKE(descriptor_fetch, receive, on_doorbell)                                                               \
  WAKE(receive_queue_entry_handler, receive_queue_entry_handler, on_released)                                \
  WAKE(response_reads, dma_validation, on_free)

// Each block and each part that blocks share: name, type, constructor arguments by the names of HcaBlocks. A
// BLOCK steps when it is woken, in turns of this order. An RTL_BLOCK is an interface that the model's type,
// the third, implements and that RTL can implement. A PART never steps. Construction and reset follow this
// order. No block steps during a reset, so that no block requests anything from one that has been reset. The
// scrubber is a PART to the others, and steps only while no block is ready.
#define FPGA_VERBS_BLOCKS(BLOCK, RTL_BLOCK, PART)                                                            \
  PART(physical_collect_buffers, PhysicalCollectBuffers, parameters)                                         \
  RTL_BLOCK(collect_buffer, CollectBufferPort, CollectBuffer, parameters, counters, clock,                   \
            physical_collect_buffers, queue_pair_state_cache, events, kick_records, links.kicks_collected,   \
            links.post_notices, links.management_units)                                                      \
  PART(kick_records, KickRecords, counters, host, clock, events)                                             \
  PART(management_queue, ManagementQueue, counters, host, clock, events)                                     \
  PART(lane_map_reader, LaneMapReader, counters, host, events)                                               \
  PART(context_memory, ContextMemory, parameters, counters, host, events)                                    \
  PART(memory_translation, MemoryTranslation, parameters, context_memory)                                    \
  PART(queue_pair_state_cache, QueuePairStateCache, parameters, counters, context_memory)                    \
  PART(virtual_queue_pairs, VirtualQueuePairs, parameters, clock)                                            \
  PART(memory_access, MemoryAccess, counters, host, memory_translation, events)                              \
  PART(host_reads, HostReads, counters, host, memory_translation, memory_access, clock)                      \
  PART(address_handles, AddressHandles)                                                                      \
  PART(port_attributes, PortAttributes, parameters, attachments.links[0])                                    \
  PART(port_states, PortStates, parameters, port_attributes, events)                                         \
  PART(multicast_groups, MulticastGroups, attachments.links)                                                 \
  PART(packet_templates, PacketTemplates, port_attributes)                                                   \
  PART(packet_memory, PacketMemory)                                                                          \
  PART(waiting_for_room, WaitingForRoom, parameters)                                                         \
  RTL_BLOCK(virtual_kick, VirtualKickPort, VirtualKick, parameters, counters, collect_buffer,                \
            physical_collect_buffers, queue_pair_state_cache, lane_map_reader, waiting_for_room,             \
            links.kicks_collected, links.kicks_scheduled, links.kicks_started,                               \
            {&links.finishes_handed_back, &links.finishes_sent, &links.finishes_completed})                  \
  BLOCK(queue_pair_fetch, QueuePairFetch, parameters, counters, kick_records, collect_buffer,                \
        physical_collect_buffers, queue_pair_state_cache, address_handles, events, links.kicks_started,      \
        links.post_notices, links.schedule_dones, links.progress_notices, links.executions,                  \
        links.schedule_requests, links.finishes_handed_back)                                                 \
  PART(queue_reader, QueueReader, counters, host, memory_translation, events)                                \
  PART(send_queue_reader, SendQueueReader, queue_reader)                                                     \
  BLOCK(send_queue_scheduler, SendQueueScheduler, parameters, counters, host, collect_buffer,                \
        physical_collect_buffers, queue_pair_state_cache, virtual_kick, waiting_for_room, send_queue_reader, \
        events, kick_records, links.schedule_requests, links.kicks_scheduled, links.schedule_dones)          \
  BLOCK(dma, Dma, parameters, physical_collect_buffers, queue_pair_state_cache, memory_access, host_reads,   \
        memory_translation.keys(), packet_memory, links.executions, links.packets_gathered,                  \
        links.requests_built)                                                                                \
  BLOCK(packet_builder, PacketBuilder, parameters, counters, collect_buffer, physical_collect_buffers,       \
        queue_pair_state_cache, kick_records, packet_templates, packet_memory, links.packets_gathered,       \
        links.requests_built, links.messages, links.finishes_sent)                                           \
  BLOCK(completion, Completion, parameters, clock, sampled_clock,                                            \
        {.queue_pairs = queue_pair_state_cache,                                                              \
         .completion_queue = completion_queue,                                                               \
         .send_queues = send_queue_reader,                                                                   \
         .memory = memory_access,                                                                            \
         .packets = packet_memory,                                                                           \
         .events = events},                                                                                  \
        {.messages = links.messages,                                                                         \
         .responses_arrived = links.responses_arrived,                                                       \
         .progress_notices = links.progress_notices,                                                         \
         .flushes = links.flushes,                                                                           \
         .finishes_completed = links.finishes_completed})                                                    \
  BLOCK(resource_manager, ResourceManager, parameters, host, clock, device,                                  \
        {.collect_buffer = collect_buffer,                                                                   \
         .buffers = physical_collect_buffers,                                                                \
         .management_queue = management_queue,                                                               \
         .management_units = links.management_units,                                                         \
         .queue_pair_state_cache = queue_pair_state_cache,                                                   \
         .virtual_queue_pairs = virtual_queue_pairs,                                                         \
         .context_memory = context_memory,                                                                   \
         .memory_translation = memory_translation,                                                           \
         .event_queue = event_queue,                                                                         \
         .port_attributes = port_attributes,                                                                 \
         .address_handles = address_handles,                                                                 \
         .shared_receive_queues = shared_receive_queues,                                                     \
         .multicast_groups = multicast_groups,                                                               \
         .packet_templates = packet_templates,                                                               \
         .counters = counters.device,                                                                        \
         .completion_queue = completion_queue,                                                               \
         .queue_pair_fetch = queue_pair_fetch,                                                               \
         .virtual_kick = virtual_kick,                                                                       \
         .waiting_for_room = waiting_for_room,                                                               \
         .kicks_collected = links.kicks_collected,                                                           \
         .kicks_scheduled = links.kicks_scheduled,                                                           \
         .kicks_started = links.kicks_started,                                                               \
         .post_notices = links.post_notices})                                                                \
  BLOCK(event_queue, EventQueue, parameters, counters, host, clock, memory_translation)                      \
  BLOCK(completion_queue, CompletionQueue, parameters, counters, host, clock, memory_translation,            \
        queue_pair_state_cache, events)                                                                      \
  BLOCK(port, Port, counters, clock, packet_memory, port_attributes, multicast_groups, attachments,          \
        links.kicks_collected, links.kicks_scheduled, links.requests_built, links.responses_built,           \
        links.packets_arrived)                                                                               \
  BLOCK(packet_receiver, PacketReceiver, counters, packet_memory, port_attributes, multicast_groups,         \
        virtual_queue_pairs, queue_pair_state_cache, packet_templates, links.packets_arrived,                \
        links.responses_arrived, links.requests_arrived)                                                     \
  PART(shared_receive_queues, SharedReceiveQueues)                                                           \
  PART(responder_resources, ResponderResources, parameters.queue_pairs)                                      \
  BLOCK(receive, Receive, parameters, counters, packet_memory, queue_pair_state_cache, descriptor_fetch,     \
        events, responder_resources, links.requests_arrived, links.flushes, links.descriptors_fetched,       \
        links.descriptors_wanted, links.requests_accepted)                                                   \
  BLOCK(descriptor_fetch, DescriptorFetch, parameters, counters, host, queue_pair_state_cache,               \
        shared_receive_queues, memory_translation, events, links.descriptors_wanted,                         \
        links.descriptors_fetched)                                                                           \
  BLOCK(receive_queue_entry_handler, ReceiveQueueEntryHandler, parameters, counters, host, packet_memory,    \
        queue_pair_state_cache, shared_receive_queues, memory_translation, events, links.requests_accepted,  \
        links.requests_placed)                                                                               \
  PART(response_reads, ResponseReads)                                                                        \
  BLOCK(dma_validation, DmaValidation, parameters, counters, packet_memory, queue_pair_state_cache,          \
        shared_receive_queues, memory_translation, memory_access, receive_queue_entry_handler,               \
        completion_queue, events, response_reads, responder_resources, links.requests_placed, links.answers) \
  BLOCK(response, Response, parameters, counters, packet_memory, queue_pair_state_cache, memory_translation, \
        host_reads, packet_templates, port, events, response_reads, responder_resources, links.answers,      \
        links.responses_built)                                                                               \
  PART(scrubber, Scrubber, counters, queue_pair_state_cache, events,                                         \
       {{spec::ListBlock::virtual_kick, virtual_kick.scrubbed_queue()},                                      \
        {spec::ListBlock::queue_pair_fetch, queue_pair_fetch.scrubbed_queue()},                              \
        {spec::ListBlock::dma, dma.scrubbed_queue()},                                                        \
        {spec::ListBlock::packet_builder, packet_builder.scrubbed_queue()},                                  \
        {spec::ListBlock::completion, completion.scrubbed_queue()},                                          \
        {spec::ListBlock::receive, receive.scrubbed_queue()},                                                \
        {spec::ListBlock::descriptor_fetch, descriptor_fetch.scrubbed_queue()},                              \
        {spec::ListBlock::receive_queue_entry_handler, receive_queue_entry_handler.scrubbed_queue()},        \
        {spec::ListBlock::dma_validation, dma_validation.scrubbed_queue()},                                  \
        {spec::ListBlock::response, response.scrubbed_queue()}})
