#pragma once

#include "hca/base/block.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/data_unit_counts.h"
#include "hca/base/device_registers.h"
#include "hca/base/event_port.h"
#include "hca/base/hca_links.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/base/sampled_clock.h"
#include "hca/base/wiring.h"
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
#include "hca/memory/host_reads.h"
#include "hca/memory/memory_access.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/multicast_groups.h"
#include "hca/port/packet_memory.h"
#include "hca/port/port.h"
#include "hca/port/port_attributes.h"
#include "hca/port/port_states.h"
#include "hca/queue_pair/address_handles.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/queue_pair/virtual_queue_pairs.h"
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
#include "hca/scrub/scrubber.h"
#include "hca/send_queue/queue_pair_fetch.h"
#include "hca/send_queue/queue_reader.h"
#include "hca/send_queue/send_queue_reader.h"
#include "hca/send_queue/send_queue_scheduler.h"
#include "hca/transmit/dma.h"
#include "hca/transmit/packet_builder.h"
#include "hca/transmit/packet_templates.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace fpga_verbs::hca {

// The blocks of an HCA, connected as hca/base/wiring.h specifies. The registers are views of the blocks.
struct HcaBlocks {
  HcaBlocks(const HcaParameters& board_parameters, Counters& board_counters, HostPort& board_host,
            const Clock& board_clock, const PortAttachments& board_attachments,
            const BlockMakers& block_makers);
  HcaBlocks(const HcaBlocks&) = delete;
  HcaBlocks& operator=(const HcaBlocks&) = delete;

  // Allows or forbids a block to process a data unit within the producer's step, if the link between them is
  // empty and no earlier unit waits: an empty list is passed by (UnitTaker). Forbidden at first.
  void pass_by_empty_links(bool on);

  // Takes up to `limit` steps, in each of which a ready block processes one data unit; ready blocks take
  // turns of several steps. The scrubber steps while none is ready. Returns the number taken; if fewer, no
  // block is ready and the scrubber has nothing to check.
  inline unsigned run(unsigned limit); // hca/hca_turns.h
  // Samples the clock, for blocks that need no exact time.
  uint64_t sample_clock() {
    sampled_clock.sample();
    return sampled_clock.now();
  }
  // Wakes the blocks whose deadline has arrived.
  void wake_due(uint64_t now);
  // A link of a port has a packet, or room for one.
  void notify_port();
  // The earliest deadline of a block; ~0: none.
  inline uint64_t next_deadline() const; // hca/hca_turns.h

  // Called after the control function has written the enable bit. A disabled device accepts and sends no
  // packet, and its queue pairs enter the error state, which flushes posted work. Registers, kick records and
  // events continue (US8589610, physical function: to disable the host channel adapter).
  void follow_enable();

  void reset_function(unsigned underlying_function);
  const char* verify() const;
  // The same when the device is idle and nothing is in flight.
  const char* verify_at_rest() const;

  const HcaParameters& parameters;
  Counters& counters;
  HostPort& host;
  const Clock& clock;
  const PortAttachments& attachments;
  const BlockMakers& makers;
  EventPort& events; // where blocks report: event_queue, but in some tests
  SampledClock sampled_clock;
  DeviceRegisters device;
  DataUnitCounts data_unit_counts;
  ReadyBlocks ready;
  HcaLinks links;

#define FPGA_VERBS_PART(name, Part, ...) Part name{__VA_ARGS__};
#define FPGA_VERBS_RTL_BLOCK(name, Block, Model, ...)                                                        \
  const std::unique_ptr<Block> made_##name = make<Model>(makers.name, Block::Ports{__VA_ARGS__});            \
  Block& name = *made_##name;
  FPGA_VERBS_BLOCKS(FPGA_VERBS_PART, FPGA_VERBS_RTL_BLOCK, FPGA_VERBS_PART)
#undef FPGA_VERBS_PART
#undef FPGA_VERBS_RTL_BLOCK

  ControlRegisters control_registers;
  std::vector<IdentityRegisters> identity_registers;           // by the function that reads
  std::vector<UnderlyingFunctionRegisters> function_registers; // by function

private:
  // The registers for inspect_registers.
  class FunctionPages final : public RegisterPages {
  public:
    explicit FunctionPages(const std::vector<UnderlyingFunctionRegisters>& registers)
        : registers_(registers) {}
    uint32_t peek(unsigned underlying_function, uint32_t offset) const override {
      return registers_[underlying_function].peek(offset);
    }

  private:
    const std::vector<UnderlyingFunctionRegisters>& registers_;
  };
  FunctionPages function_pages{function_registers};

  template <class Model, class Block>
  static std::unique_ptr<Block> make(std::unique_ptr<Block> (*maker)(const typename Block::Ports&),
                                     const typename Block::Ports& ports) {
    return maker != nullptr ? maker(ports) : std::make_unique<Model>(ports);
  }

  void connect_links();
  void connect_wakers();
  void count_data_units();
  void fail_queue_pairs(unsigned underlying_function);

  // Whether the function still has a PCB or a kicked command.
  bool is_in_flight(unsigned underlying_function) const;

  // Takes up to `left` steps, at least one, of the block with this bit in `ready`, and subtracts them from
  // `left`.
  [[gnu::always_inline]] inline void take_turn(unsigned number, unsigned& left);
  template <unsigned number, class Block> inline void turn_of(Block& block, unsigned& left);
  template <unsigned number, class Block> inline bool step_of(Block& block, unsigned& left);
};

} // namespace fpga_verbs::hca
