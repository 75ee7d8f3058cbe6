#pragma once

#include "hca/block_makers.h"
#include "hca/hca_blocks.h"
#include "test/collect_buffer_port.h"
#include "test/hosted_port.h"
#include "test/pipeline_sink.h"

#include <napi.h>

#include <array>
#include <vector>

namespace fpga_verbs::test {

// The blocks that decide on the order of commands, for vitest: from the VCBs to the end of the pipeline, each
// stepped separately.
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
  Napi::Value is_awake(const Napi::CallbackInfo& info);
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
  const hca::BlockMakers makers_{.events = &events_};
  const hca::PortAttachments attachments_;
  hca::HcaBlocks device_{parameters_, counters_, host_, clock_, attachments_, makers_};
  PipelineSink pipeline_sink_{counters_,
                              device_.collect_buffer,
                              device_.physical_collect_buffers,
                              device_.kick_records,
                              device_.links.executions,
                              device_.links.finishes_sent};
  std::vector<spec::KickUnit> executed_;
  std::vector<hca::QueuePairStateCache::Named> created_; // all queue pairs, including destroyed ones
  std::array<bool, spec::underlying_functions> was_reset_{};
};

} // namespace fpga_verbs::test
