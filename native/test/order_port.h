#pragma once

#include "hca/base/hca_links.h"
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
  hca::HcaLinks links_;
  hca::DataLink<spec::KickUnit>& kicks_collected_ = links_.kicks_collected;
  hca::DataLink<spec::KickUnit>& kicks_scheduled_ = links_.kicks_scheduled;
  hca::DataLink<spec::PostNotice>& post_notices_ = links_.post_notices;
  hca::DataLink<spec::ManagementUnit>& management_units_ = links_.management_units;
  hca::DataLink<spec::KickUnit>& kicks_started_ = links_.kicks_started;
  hca::DataLink<spec::KickUnit>& executions_ = links_.executions;
  hca::DataLink<spec::ScheduleRequest>& schedule_requests_ = links_.schedule_requests;
  hca::DataLink<spec::ScheduleDone>& schedule_dones_ = links_.schedule_dones;
  hca::DataLink<spec::QueuePairNotice>& progress_notices_ = links_.progress_notices;
  hca::DataLink<spec::FinishUnit>& finishes_handed_back_ = links_.finishes_handed_back;
  hca::DataLink<spec::FinishUnit>& finishes_sent_ = links_.finishes_sent;
  hca::PhysicalCollectBuffers buffers_{parameters_};
  hca::CollectBuffer collect_buffer_;
  hca::LaneMapReader lane_map_reader_{counters_, host_, events_};
  hca::WaitingForRoom waiting_for_room_{parameters_};
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
