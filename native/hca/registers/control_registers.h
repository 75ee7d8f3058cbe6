#pragma once

#include "hca/base/counters.h"
#include "hca/base/data_unit_counts.h"
#include "hca/base/device_registers.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/kick/virtual_kick_port.h"
#include "hca/memory/context_memory.h"
#include "hca/port/port.h"
#include "hca/port/port_attributes.h"
#include "hca/port/port_states.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/registers/queue_pair_inspection.h"
#include "hca/registers/register_page.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The control registers, for function 0 alone: the board blocks accesses of other functions.
class ControlRegisters final : public RegisterPage {
public:
  // The blocks whose state the registers show.
  struct Blocks {
    CollectBufferPort& collect_buffer;
    const PhysicalCollectBuffers& buffers;
    VirtualKickPort& virtual_kick;
    const WaitingForRoom& waiting_for_room;
    LaneMapReader& lane_map_reader;
    QueuePairStateCache& queue_pairs;
    VirtualQueuePairs& virtual_queue_pairs;
    ContextMemory& context_memory;
    Port& port;
    PortAttributes& port_attributes;
    PortStates& port_states;
    const DataUnitCounts& data_unit_counts;
  };

  ControlRegisters(const HcaParameters& parameters, Counters& counters, DeviceRegisters& device,
                   Blocks blocks);

private:
  std::optional<Register> value(uint32_t offset) const override;
  bool set_value(uint32_t offset, uint64_t value) override;
  void count_refused() override { ++counters_.function[0].reads_refused; }

  std::optional<uint64_t> counter(uint32_t offset) const;
  std::optional<Register> array(uint32_t offset) const;
  std::optional<Register> port_value(uint32_t offset) const;
  std::optional<uint64_t> port_counter(uint32_t offset) const;
  std::optional<bool> set_port_value(uint32_t offset, uint64_t value);
  bool set_array(uint32_t offset, uint64_t value);
  bool set_control(spec::control::Control control);
  bool set_allotment(unsigned underlying_function, spec::control::FunctionPhysicalCollectBuffers value);

  uint32_t inspect_physical_collect_buffer() const;
  uint32_t inspect_virtual_collect_buffer() const;
  uint32_t inspected_number() const {
    return selected_number(blocks_.virtual_queue_pairs, device_.inspect_queue_pair);
  }
  QueuePairStateCache::Found inspected_queue_pair() const {
    return blocks_.queue_pairs.find_any(inspected_number());
  }
  uint32_t dedicated_physical_collect_buffer(uint32_t index) const;
  uint32_t allotment(unsigned underlying_function) const;
  const PhysicalCollectBuffer* selected() const; // null: the selection names none

  const HcaParameters& parameters_;
  Counters& counters_;
  DeviceRegisters& device_;
  Blocks blocks_;
};

} // namespace fpga_verbs::hca
