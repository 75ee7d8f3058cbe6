#include "hca/hca_blocks.h"

#include "hca/hca_turns.h"

#include <algorithm>

namespace fpga_verbs::hca {

namespace {

// Whether returned credits wake the producer: not if the producer polls for them.
template <class Producer> constexpr bool is_woken_by_credit() {
  if constexpr (requires { Producer::is_woken_by_credit; })
    return Producer::is_woken_by_credit;
  return true;
}

} // namespace

HcaBlocks::HcaBlocks(const HcaParameters& board_parameters, Counters& board_counters, HostPort& board_host,
                     const Clock& board_clock, const PortAttachments& board_attachments,
                     const BlockMakers& block_makers)
    : parameters(board_parameters), counters(board_counters), host(board_host), clock(board_clock),
      attachments(board_attachments), makers(block_makers),
      events(makers.events != nullptr ? *makers.events : event_queue), sampled_clock(clock),
      control_registers(parameters, counters, device,
                        {.collect_buffer = collect_buffer,
                         .buffers = physical_collect_buffers,
                         .virtual_kick = virtual_kick,
                         .waiting_for_room = waiting_for_room,
                         .lane_map_reader = lane_map_reader,
                         .queue_pairs = queue_pair_state_cache,
                         .virtual_queue_pairs = virtual_queue_pairs,
                         .context_memory = context_memory,
                         .port = port,
                         .port_attributes = port_attributes,
                         .port_states = port_states,
                         .data_unit_counts = data_unit_counts}) {
  for (unsigned function = 0; function < parameters.underlying_functions; ++function) {
    identity_registers.emplace_back(parameters, counters.function[function], context_memory.bytes_needed(),
                                    makers.rtl());
    function_registers.emplace_back(
        function, clock, counters.function[function], device,
        UnderlyingFunctionRegisters::Blocks{.collect_buffer = collect_buffer,
                                            .virtual_kick = virtual_kick,
                                            .waiting_for_room = waiting_for_room,
                                            .queue_pairs = queue_pair_state_cache,
                                            .virtual_queue_pairs = virtual_queue_pairs,
                                            .send_queue_scheduler = send_queue_scheduler,
                                            .management_queue = management_queue,
                                            .event_queue = event_queue,
                                            .completion_queue = completion_queue,
                                            .descriptor_fetch = descriptor_fetch,
                                            .kick_records = kick_records});
  }
  resource_manager.inspect_pages(function_pages);
  connect_links();
  connect_wakers();
  count_data_units();
}

void HcaBlocks::connect_links() {
  const auto waker_of = [this]<class Producer>(const Producer&, unsigned number) {
    return is_woken_by_credit<Producer>() ? Waker(ready, number) : Waker();
  };
#define FPGA_VERBS_CONNECT(name, Unit, depth, producer, consumer, ...)                                       \
  links.name.connect(waker_of(producer, producer##_number), Waker(ready, consumer##_number));
  FPGA_VERBS_LINKS(FPGA_VERBS_CONNECT)
#undef FPGA_VERBS_CONNECT
}

void HcaBlocks::connect_wakers() {
#define FPGA_VERBS_WAKE(part, block, on_event) part.on_event(Waker(ready, block##_number));
  FPGA_VERBS_WAKES(FPGA_VERBS_WAKE)
#undef FPGA_VERBS_WAKE
}

// Each data unit that leaves a block enters one of the links that it feeds, or the block counts it itself.
void HcaBlocks::count_data_units() {
#define FPGA_VERBS_counted(name, producer)                                                                   \
  data_unit_counts.add(spec::control::data_units_##producer, links.name.count());
#define FPGA_VERBS_uncounted(...)
#define FPGA_VERBS_COUNT(name, Unit, depth, producer, consumer, is_counted)                                  \
  FPGA_VERBS_##is_counted(name, producer)
  FPGA_VERBS_LINKS(FPGA_VERBS_COUNT)
#undef FPGA_VERBS_COUNT
#undef FPGA_VERBS_counted
#undef FPGA_VERBS_uncounted
  for_each_block(*this, [this](auto& block, unsigned) {
    if constexpr (requires { block.count_data_units(data_unit_counts); })
      block.count_data_units(data_unit_counts);
  });
}

void HcaBlocks::pass_by_empty_links(bool on) {
  const auto pass_by = [on](auto& link, auto* consumer) { link.pass_by_to(on ? consumer : nullptr); };
  // Not finishes_handed_back: a returned command holds its queue pair until it is queued again.
  pass_by(links.finishes_sent, virtual_kick.finish_taker());
  pass_by(links.finishes_completed, virtual_kick.finish_taker());
  pass_by(links.kicks_started, &queue_pair_fetch);
  pass_by(links.executions, &dma);
  pass_by(links.packets_gathered, &packet_builder);
  pass_by(links.messages, &completion);
  pass_by(links.packets_arrived, &packet_receiver);
  pass_by(links.responses_arrived, &completion);
  pass_by(links.requests_arrived, &receive);
  pass_by(links.requests_accepted, &receive_queue_entry_handler);
  pass_by(links.requests_placed, &dma_validation);
  pass_by(links.answers, &response);
  pass_by(links.requests_built, port.request_taker());
  pass_by(links.responses_built, &port);
  descriptor_fetch.allow_at_once(on);
  virtual_kick.allow_trains(on);
  dma.allow_trains(on);
  port.allow_trains(on);
}

void HcaBlocks::wake_due(uint64_t now) {
  for_each_block(*this, [this, now](auto& block, unsigned number) {
    if constexpr (requires { block.next_deadline(); })
      if (block.next_deadline() <= now) {
        if constexpr (requires { block.notice_deadline(); })
          block.notice_deadline();
        if (number != block_count) // a part wakes the blocks that wait for it
          ready.wake(number);
      }
  });
}

void HcaBlocks::notify_port() {
  port_states.look();
  port.look_in();
  ready.wake(port_number);
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

// Queue pairs in RESET have no posted work. Those waiting for destroy or reset end by themselves.
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
  return std::ranges::any_of(physical_collect_buffers, [=](const PhysicalCollectBuffer& held) {
    return held.state != spec::PhysicalCollectBufferState::free &&
           held.underlying_function == underlying_function;
  });
}

// Forgets the objects of the function, including the memory of its queue pairs, so that no DMA follows. Data
// units in flight find no queue pair and return their resources while the blocks continue with the work of
// other functions.
void HcaBlocks::reset_function(unsigned underlying_function) {
  for_each_block(*this, [underlying_function](auto& block, unsigned) {
    if constexpr (requires { block.reset_function(underlying_function); })
      block.reset_function(underlying_function);
  });
  while (is_in_flight(underlying_function) && run(1) != 0)
    ;
}

const char* HcaBlocks::verify() const {
  const char* wrong = nullptr;
  for_each_block(*this, [&wrong](const auto& block, unsigned) {
    if constexpr (requires { block.verify(); })
      wrong = wrong != nullptr ? wrong : block.verify();
  });
  return wrong;
}

const char* HcaBlocks::verify_at_rest() const {
  const char* wrong = verify();
  for_each_block(*this, [&wrong](const auto& block, unsigned) {
    if constexpr (requires { block.verify_at_rest(); })
      wrong = wrong != nullptr ? wrong : block.verify_at_rest();
  });
  return wrong;
}

} // namespace fpga_verbs::hca
