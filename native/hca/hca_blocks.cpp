#include "hca/hca_blocks.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

// The bit of each stepped block in the mask of ready blocks, and its place among them.
enum BlockNumber : unsigned {
  collect_buffer_number,
  virtual_kick_number,
  queue_pair_fetch_number,
  send_queue_scheduler_number,
  dma_number,
  packet_builder_number,
  completion_number,
  resource_manager_number,
  event_queue_number,
  completion_queue_number,
  port_number,
  packet_receiver_number,
  receive_number,
  descriptor_fetch_number,
  receive_queue_entry_handler_number,
  dma_validation_number,
  response_number,
};

} // namespace

HcaBlocks::HcaBlocks(const HcaParameters& board_parameters, Counters& counters, HostPort& host,
                     const Clock& clock, const PortAttachments& attachments, const BlockMakers& makers)
    : parameters(board_parameters), sampled_clock(clock),
      event_queue(parameters, counters, host, clock, memory_translation),
      context_memory(parameters, counters, host, event_queue), memory_translation(parameters, context_memory),
      queue_pair_state_cache(parameters, counters, context_memory),
      completion_queue(parameters, counters, host, clock, memory_translation, queue_pair_state_cache,
                       event_queue),
      kick_records(counters, host, clock, event_queue),
      made_collect_buffer(makers.collect_buffer(parameters, counters, clock, queue_pair_state_cache,
                                                event_queue, kick_records, kicks_collected, post_notices,
                                                management_units)),
      collect_buffer(*made_collect_buffer), management_queue(counters, host, clock, event_queue),
      lane_map_reader(counters, host, event_queue),
      made_virtual_kick(makers.virtual_kick(parameters, counters, collect_buffer, queue_pair_state_cache,
                                            kicks_collected, kicks_scheduled, kicks_started,
                                            {&finishes_handed_back, &finishes_sent, &finishes_completed})),
      virtual_kick(*made_virtual_kick),
      queue_pair_fetch(parameters, counters, kick_records, collect_buffer, queue_pair_state_cache,
                       address_handles, event_queue, kicks_started, post_notices, schedule_dones,
                       progress_notices, executions, schedule_requests, finishes_handed_back),
      queue_reader(counters, host, memory_translation, event_queue), send_queue_reader(queue_reader),
      send_queue_scheduler(parameters, counters, host, collect_buffer, queue_pair_state_cache, virtual_kick,
                           send_queue_reader, event_queue, kick_records, schedule_requests, kicks_scheduled,
                           schedule_dones),
      memory_access(counters, host, memory_translation, event_queue),
      descriptor_fetch(parameters, counters, host, queue_pair_state_cache, shared_receive_queues,
                       memory_translation, event_queue, descriptors_wanted, descriptors_fetched),
      port_attributes(parameters, attachments.links[0]),
      port_states(parameters, port_attributes, event_queue), multicast_groups(attachments.links),
      packet_templates(port_attributes),
      dma(parameters, collect_buffer, queue_pair_state_cache, memory_access, memory_translation.keys(),
          packet_memory, executions, packets_gathered),
      packet_builder(parameters, counters, collect_buffer, queue_pair_state_cache, kick_records,
                     packet_templates, packet_memory, packets_gathered, requests_built, messages,
                     finishes_sent),
      completion(parameters, clock, sampled_clock,
                 {.queue_pairs = queue_pair_state_cache,
                  .completion_queue = completion_queue,
                  .send_queues = send_queue_reader,
                  .memory = memory_access,
                  .packets = packet_memory,
                  .events = event_queue},
                 {.messages = messages,
                  .responses_arrived = responses_arrived,
                  .progress_notices = progress_notices,
                  .flushes = flushes,
                  .finishes_completed = finishes_completed}),
      port(counters, clock, packet_memory, port_attributes, multicast_groups, attachments, requests_built,
           responses_built, packets_arrived),
      packet_receiver(counters, packet_memory, port_attributes, multicast_groups, queue_pair_state_cache,
                      packets_arrived, responses_arrived, requests_arrived),
      responder_resources(parameters.queue_pairs),
      receive(parameters, counters, packet_memory, queue_pair_state_cache, descriptor_fetch, event_queue,
              responder_resources, requests_arrived, flushes, descriptors_fetched, descriptors_wanted,
              requests_accepted),
      receive_queue_entry_handler(parameters, counters, host, packet_memory, queue_pair_state_cache,
                                  shared_receive_queues, memory_translation, event_queue, requests_accepted,
                                  requests_placed),
      dma_validation(parameters, counters, packet_memory, queue_pair_state_cache, shared_receive_queues,
                     memory_translation, memory_access, receive_queue_entry_handler, completion_queue,
                     event_queue, response_reads, responder_resources, requests_placed, answers),
      response(parameters, counters, packet_memory, queue_pair_state_cache, memory_translation, memory_access,
               packet_templates, event_queue, response_reads, responder_resources, answers, responses_built),
      resource_manager(parameters, host, device,
                       {.collect_buffer = collect_buffer,
                        .management_queue = management_queue,
                        .management_units = management_units,
                        .queue_pair_state_cache = queue_pair_state_cache,
                        .context_memory = context_memory,
                        .memory_translation = memory_translation,
                        .event_queue = event_queue,
                        .port_attributes = port_attributes,
                        .address_handles = address_handles,
                        .shared_receive_queues = shared_receive_queues,
                        .multicast_groups = multicast_groups,
                        .counters = counters.device,
                        .completion_queue = completion_queue,
                        .queue_pair_fetch = queue_pair_fetch,
                        .virtual_kick = virtual_kick,
                        .kicks_collected = kicks_collected,
                        .kicks_scheduled = kicks_scheduled,
                        .kicks_started = kicks_started,
                        .post_notices = post_notices}),
      control_registers(parameters, counters, device,
                        {.collect_buffer = collect_buffer,
                         .virtual_kick = virtual_kick,
                         .lane_map_reader = lane_map_reader,
                         .queue_pairs = queue_pair_state_cache,
                         .context_memory = context_memory,
                         .port = port,
                         .port_attributes = port_attributes,
                         .port_states = port_states,
                         .data_unit_counts = data_unit_counts}),
      stepped_{&collect_buffer,
               &virtual_kick,
               &queue_pair_fetch,
               &send_queue_scheduler,
               &dma,
               &packet_builder,
               &completion,
               &resource_manager,
               &event_queue,
               &completion_queue,
               &port,
               &packet_receiver,
               &receive,
               &descriptor_fetch,
               &receive_queue_entry_handler,
               &dma_validation,
               &response} {
  virtual_kick.connect(lane_map_reader);
  for (unsigned function = 0; function < parameters.underlying_functions; ++function) {
    identity_registers.emplace_back(parameters, counters.function[function], context_memory.bytes_needed(),
                                    makers.rtl);
    function_registers.emplace_back(
        function, clock, counters.function[function], device,
        UnderlyingFunctionRegisters::Blocks{.collect_buffer = collect_buffer,
                                            .virtual_kick = virtual_kick,
                                            .queue_pairs = queue_pair_state_cache,
                                            .send_queue_scheduler = send_queue_scheduler,
                                            .management_queue = management_queue,
                                            .event_queue = event_queue,
                                            .completion_queue = completion_queue,
                                            .descriptor_fetch = descriptor_fetch,
                                            .kick_records = kick_records});
  }

  const Waker to_virtual_kick(ready, virtual_kick_number);
  const Waker to_queue_pair_fetch(ready, queue_pair_fetch_number);
  const Waker to_send_queue_scheduler(ready, send_queue_scheduler_number);
  const Waker to_dma(ready, dma_number);
  const Waker to_packet_builder(ready, packet_builder_number);
  const Waker to_completion(ready, completion_number);
  const Waker to_resource_manager(ready, resource_manager_number);
  const Waker to_completion_queue(ready, completion_queue_number);
  const Waker to_port(ready, port_number);
  const Waker to_packet_receiver(ready, packet_receiver_number);
  const Waker to_receive(ready, receive_number);
  const Waker to_descriptor_fetch(ready, descriptor_fetch_number);
  const Waker to_receive_queue_entry_handler(ready, receive_queue_entry_handler_number);
  const Waker to_dma_validation(ready, dma_validation_number);
  const Waker to_response(ready, response_number);
  // Nobody is woken when collect_buffer's credits come back: the board asks before each write.
  const Waker to_board;
  kicks_collected.connect(to_board, to_virtual_kick);
  kicks_scheduled.connect(to_send_queue_scheduler, to_virtual_kick);
  post_notices.connect(to_board, to_queue_pair_fetch);
  management_units.connect(to_board, to_resource_manager);
  kicks_started.connect(to_virtual_kick, to_queue_pair_fetch);
  executions.connect(to_queue_pair_fetch, to_dma);
  schedule_requests.connect(to_queue_pair_fetch, to_send_queue_scheduler);
  schedule_dones.connect(to_send_queue_scheduler, to_queue_pair_fetch);
  finishes_handed_back.connect(to_queue_pair_fetch, to_virtual_kick);
  finishes_sent.connect(to_packet_builder, to_virtual_kick);
  finishes_completed.connect(to_completion, to_virtual_kick);
  packets_gathered.connect(to_dma, to_packet_builder);
  messages.connect(to_packet_builder, to_completion);
  progress_notices.connect(to_completion, to_queue_pair_fetch);
  requests_built.connect(to_packet_builder, to_port);
  responses_built.connect(to_response, to_port);
  packets_arrived.connect(to_port, to_packet_receiver);
  responses_arrived.connect(to_packet_receiver, to_completion);
  requests_arrived.connect(to_packet_receiver, to_receive);
  flushes.connect(to_completion, to_receive);
  descriptors_wanted.connect(to_receive, to_descriptor_fetch);
  descriptors_fetched.connect(to_descriptor_fetch, to_receive);
  requests_accepted.connect(to_receive, to_receive_queue_entry_handler);
  requests_placed.connect(to_receive_queue_entry_handler, to_dma_validation);
  answers.connect(to_dma_validation, to_response);
  packet_memory.connect(PacketUse::request, to_dma);
  packet_memory.connect(PacketUse::response, to_response);
  packet_memory.connect(PacketUse::receive, to_port);
  receive_queue_entry_handler.connect(to_receive_queue_entry_handler);
  response_reads.connect(to_dma_validation);
  descriptor_fetch.connect(to_receive);
  shared_receive_queues.connect(to_descriptor_fetch);
  queue_pair_state_cache.connect_ended(to_completion);
  collect_buffer.connect(to_send_queue_scheduler);
  virtual_kick.connect(to_virtual_kick, to_send_queue_scheduler);
  management_queue.connect(to_resource_manager);
  queue_pair_state_cache.connect(to_resource_manager);
  memory_translation.keys().connect(to_resource_manager);
  memory_translation.keys().connect_idle(to_dma, to_dma_validation);
  completion_queue.connect(to_completion_queue);
  count_data_units(counters.device);
}

// What left each block went into the links that it feeds.
void HcaBlocks::count_data_units(const DeviceCounters& device_counters) {
  namespace r = spec::control;
  const auto count = [this](uint32_t control_register, const auto&... places) {
    (data_unit_counts.add(control_register, places.count()), ...);
  };
  count(r::data_units_collect_buffer, kicks_collected, post_notices, management_units);
  count(r::data_units_virtual_kick, kicks_started);
  count(r::data_units_queue_pair_fetch, executions, schedule_requests, finishes_handed_back);
  count(r::data_units_send_queue_scheduler, kicks_scheduled, schedule_dones);
  count(r::data_units_dma, packets_gathered);
  count(r::data_units_packet_builder, requests_built, messages, finishes_sent);
  count(r::data_units_completion, progress_notices, flushes, finishes_completed);
  for (const PortCounters& counters : device_counters.port) {
    data_unit_counts.add(r::data_units_port, counters.packets_out);
    data_unit_counts.add(r::data_units_port, counters.packets_in);
  }
  count(r::data_units_packet_receiver, responses_arrived, requests_arrived);
  count(r::data_units_receive, requests_accepted);
  count(r::data_units_receive_queue_entry_handler, requests_placed);
  count(r::data_units_dma_validation, answers);
  count(r::data_units_response, responses_built);
  count(r::data_units_completion_queue, completion_queue);
}

unsigned HcaBlocks::run(unsigned limit) {
  // A block that has more to do goes on for as many steps: its code and data are at hand.
  constexpr unsigned most_steps_of_a_turn = 16;
  unsigned done = 0;
  while (done < limit && ready.any()) {
    const unsigned number = ready.next();
    const unsigned end = std::min(limit, done + most_steps_of_a_turn);
    while (done < end && ready.is_awake(number)) {
      // Asleep before it works, so that it can be woken by what it does.
      ready.sleep(number);
      ++done;
      if (stepped_[number]->step())
        ready.wake(number);
    }
  }
  return done;
}

void HcaBlocks::look_at_clock() {
  sampled_clock.sample();
  const uint64_t now = sampled_clock.now();
  if (collect_buffer.next_deadline() <= now)
    ready.wake(collect_buffer_number);
  if (event_queue.next_deadline() <= now)
    ready.wake(event_queue_number);
  if (port.next_deadline() <= now)
    ready.wake(port_number);
  if (completion.next_deadline() <= now) {
    completion.notice_deadline();
    ready.wake(completion_number);
  }
}

void HcaBlocks::notify_port() {
  port_states.look();
  ready.wake(port_number);
}

uint64_t HcaBlocks::next_deadline() const {
  return std::min({collect_buffer.next_deadline(), event_queue.next_deadline(), port.next_deadline(),
                   completion.next_deadline()});
}

void HcaBlocks::follow_enable() {
  if (device.disabled == port_attributes.disabled())
    return;
  port_attributes.set_disabled(device.disabled);
  if (device.disabled) {
    for (unsigned buffer = 0; buffer < parameters.virtual_collect_buffers; ++buffer)
      collect_buffer.cancel(buffer);
    for (unsigned function = 0; function < parameters.underlying_functions; ++function)
      fail_queue_pairs(function);
  }
  notify_port();
}

// Those in RESET have nothing posted; those that wait to be destroyed or reset end by themselves.
void HcaBlocks::fail_queue_pairs(unsigned underlying_function) {
  uint32_t index = 0;
  while (const auto number = queue_pair_state_cache.take_next(underlying_function, index)) {
    const auto found = queue_pair_state_cache.find(underlying_function, *number);
    if (found && found->control.destroying() == 0 && found->control.state() != spec::QueuePairState::reset)
      queue_pair_state_cache.enter_error(underlying_function, *number);
  }
}

bool HcaBlocks::is_in_flight(unsigned underlying_function) const {
  if (virtual_kick.commands(underlying_function) != 0)
    return true;
  const unsigned buffers =
      parameters.physical_collect_buffers + parameters.dedicated_physical_collect_buffers;
  for (unsigned buffer = 0; buffer < buffers; ++buffer) {
    const PhysicalCollectBuffer& held = collect_buffer.buffer(static_cast<uint16_t>(buffer));
    if (held.state != spec::PhysicalCollectBufferState::free &&
        held.underlying_function == underlying_function)
      return true;
  }
  return false;
}

// Intake stops first, then what the function owns is forgotten, last its queue pairs' memory; so no DMA
// follows. What is in flight finds its queue pair gone and gives back what it holds while the blocks go on,
// the other functions' work with them.
void HcaBlocks::reset_function(unsigned underlying_function) {
  collect_buffer.reset_function(underlying_function);
  kick_records.reset_function(underlying_function);
  management_queue.reset_function(underlying_function);
  resource_manager.reset_function(underlying_function);
  queue_pair_state_cache.reset_function(underlying_function);
  send_queue_scheduler.reset_function(underlying_function);
  completion_queue.reset_function(underlying_function);
  event_queue.reset_function(underlying_function);
  memory_translation.reset_function(underlying_function);
  port_attributes.reset_function(underlying_function);
  address_handles.reset_function(underlying_function);
  shared_receive_queues.reset_function(underlying_function);
  multicast_groups.reset_function(underlying_function);
  while (is_in_flight(underlying_function) && run(1) != 0)
    ;
}

const char* HcaBlocks::verify() const {
  for (const char* const wrong :
       {collect_buffer.verify(), virtual_kick.verify(), queue_pair_fetch.verify(), dma.verify(),
        packet_builder.verify(), completion.verify(), receive.verify(), descriptor_fetch.verify(),
        receive_queue_entry_handler.verify(), dma_validation.verify(), response.verify(),
        event_queue.verify(), completion_queue.verify()})
    if (wrong != nullptr)
      return wrong;
  if (!queue_pair_state_cache.verify())
    return "queue_pair_state_cache: its contexts and lists contradict each other";
  if (!memory_translation.verify())
    return "memory_translation: tables and runs contradict each other";
  if (!send_queue_scheduler.verify())
    return "send_queue_scheduler: the queuing structures contradict each other";
  if (!packet_memory.verify())
    return "packet_memory: buffers are neither free nor counted";
  return nullptr;
}

const char* HcaBlocks::verify_at_rest() const {
  if (const char* const wrong = verify(); wrong != nullptr)
    return wrong;
  return packet_memory.all_free() ? nullptr : "packet_memory: a packet that nobody handles has a buffer";
}

} // namespace fpga_verbs::hca
