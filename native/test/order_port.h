#pragma once

#include "hca/collect/collect_buffer.h"
#include "hca/collect/kick_records.h"
#include "hca/kick/virtual_kick.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/send_queue/queue_pair_fetch.h"
#include "hca/send_queue/send_queue_scheduler.h"
#include "test/collect_buffer_port.h"
#include "test/hosted_port.h"
#include "test/pipeline_sink.h"

#include <napi.h>

#include <array>
#include <vector>

namespace fpga_verbs::test {

// The blocks that decide on the order of commands, for vitest: from the VCBs to the end of the pipeline, each
// stepped on its own.
class OrderPort final : public HostedPort<OrderPort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit OrderPort(const Napi::CallbackInfo& info);

private:
  friend HostedPort<OrderPort>;

  Napi::Value create_queue_pair(const Napi::CallbackInfo& info);
  void set_state(const Napi::CallbackInfo& info);
  Napi::Value state(const Napi::CallbackInfo& info);
  Napi::Value requester(const Napi::CallbackInfo& info);
  void set_position(const Napi::CallbackInfo& info);
  Napi::Value resume(const Napi::CallbackInfo& info);
  void quiesce(const Napi::CallbackInfo& info);
  Napi::Value take_quiet(const Napi::CallbackInfo& info);
  Napi::Value pins(const Napi::CallbackInfo& info);
  void reset_function(const Napi::CallbackInfo& info);

  Napi::Value can_accept_write(const Napi::CallbackInfo& info);
  void write(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value take_executions(const Napi::CallbackInfo& info);
  Napi::Value take_events(const Napi::CallbackInfo& info);

  void set_queuing_structure(const Napi::CallbackInfo& info);
  Napi::Value set_lanes(const Napi::CallbackInfo& info);
  Napi::Value set_shared_lanes(const Napi::CallbackInfo& info);
  void set_entry_credits(const Napi::CallbackInfo& info);
  Napi::Value lane_state(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  uint32_t make_table(unsigned underlying_function, const Napi::Value& addresses);
  const char* contradiction();

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  TestEvents events_;
  hca::ContextMemory context_memory_;
  hca::MemoryTranslation translation_;
  hca::QueuePairStateCache queue_pairs_;
  hca::KickRecords kick_records_;
  hca::DataLink<spec::KickUnit, 128> kicks_collected_;
  hca::DataLink<spec::KickUnit, 16> kicks_scheduled_;
  hca::DataLink<spec::PostNotice, 16> post_notices_;
  hca::DataLink<spec::ManagementUnit, 16> management_units_;
  hca::DataLink<spec::KickUnit, 8> kicks_started_;
  hca::DataLink<spec::KickUnit, 8> executions_;
  hca::DataLink<spec::ScheduleRequest, 16> schedule_requests_;
  hca::DataLink<spec::ScheduleDone, 16> schedule_dones_;
  hca::DataLink<spec::QueuePairNotice, 16> progress_notices_;
  hca::DataLink<spec::FinishUnit, 16> finishes_handed_back_;
  hca::DataLink<spec::FinishUnit, 16> finishes_sent_;
  hca::CollectBuffer collect_buffer_;
  hca::VirtualKick virtual_kick_;
  hca::AddressHandles address_handles_;
  hca::QueuePairFetch queue_pair_fetch_;
  hca::QueueReader queue_reader_;
  hca::SendQueueReader send_queues_;
  hca::SendQueueScheduler send_queue_scheduler_;
  PipelineSink pipeline_sink_;
  std::vector<spec::KickUnit> executed_;
  std::vector<hca::QueuePairStateCache::Named> created_; // all queue pairs, also those that are gone
  std::array<bool, spec::underlying_functions> was_reset_{};
};

} // namespace fpga_verbs::test
