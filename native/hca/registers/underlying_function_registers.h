#pragma once

#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/device_registers.h"
#include "hca/base/parameters.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/collect/kick_records.h"
#include "hca/complete/completion_queue.h"
#include "hca/complete/event_queue.h"
#include "hca/kick/virtual_kick_port.h"
#include "hca/management/management_queue.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/descriptor_fetch.h"
#include "hca/registers/queue_pair_inspection.h"
#include "hca/registers/register_page.h"
#include "hca/send_queue/send_queue_scheduler.h"
#include "spec/enums.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The register page of one function: doorbells, status, management and counters of this function only.
class UnderlyingFunctionRegisters final : public RegisterPage {
public:
  // The blocks whose state the registers show.
  struct Blocks {
    CollectBufferPort& collect_buffer;
    VirtualKickPort& virtual_kick;
    const WaitingForRoom& waiting_for_room;
    QueuePairStateCache& queue_pairs;
    VirtualQueuePairs& virtual_queue_pairs;
    SendQueueScheduler& send_queue_scheduler;
    ManagementQueue& management_queue;
    EventQueue& event_queue;
    CompletionQueue& completion_queue;
    DescriptorFetch& descriptor_fetch;
    KickRecords& kick_records;
  };

  UnderlyingFunctionRegisters(unsigned underlying_function, const Clock& clock, FunctionCounters& counters,
                              DeviceRegisters& device, Blocks blocks);

private:
  std::optional<Register> value(uint32_t offset) const override;
  void read_effect(uint32_t offset) override;
  bool has_read_effect(uint32_t offset) const override;
  bool set_value(uint32_t offset, uint64_t value) override;
  void count_refused() override { ++counters_.reads_refused; }

  std::optional<uint64_t> counter(uint32_t offset) const;
  std::optional<Register> array(uint32_t offset) const;
  uint32_t status() const;
  uint32_t bar() const;
  uint32_t sub_bar() const;
  uint32_t virtual_collect_buffers_in_use(uint32_t index) const;
  uint32_t inspected_number() const {
    return selected_number(blocks_.virtual_queue_pairs, inspect_queue_pair_);
  }
  QueuePairStateCache::Found inspected_queue_pair() const {
    return blocks_.queue_pairs.find(underlying_function_, inspected_number());
  }

  unsigned underlying_function_;
  const Clock& clock_;
  FunctionCounters& counters_;
  DeviceRegisters& device_;
  Blocks blocks_;
  spec::underlying_function::ManagementLock management_lock_; // as the last read got it
  uint32_t inspect_queue_pair_ = 0;                           // number
};

} // namespace fpga_verbs::hca
