#pragma once

#include "hca/block_makers.h"
#include "hca/hca_blocks.h"
#include "test/collect_buffer_port.h"
#include "test/device_links.h"
#include "test/hosted_port.h"

#include <napi.h>

namespace fpga_verbs::test {

// The completion queues for vitest, with memory_translation and queue_pair_state_cache behind them; their
// events are kept for the test.
class CompletionQueuePort final : public HostedPort<CompletionQueuePort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit CompletionQueuePort(const Napi::CallbackInfo& info);

private:
  friend HostedPort<CompletionQueuePort>;

  Napi::Value create(const Napi::CallbackInfo& info);
  uint32_t make_table(unsigned underlying_function, const Napi::Array& addresses);
  Napi::Value resize(const Napi::CallbackInfo& info);
  Napi::Value tail(const Napi::CallbackInfo& info);
  void moderate(const Napi::CallbackInfo& info);
  Napi::Value next_deadline(const Napi::CallbackInfo& info);
  void destroy(const Napi::CallbackInfo& info);
  Napi::Value exists(const Napi::CallbackInfo& info);
  Napi::Value is_in_error(const Napi::CallbackInfo& info);
  Napi::Value write(const Napi::CallbackInfo& info);
  Napi::Value arm(const Napi::CallbackInfo& info);
  Napi::Value create_queue_pair(const Napi::CallbackInfo& info);
  Napi::Value state(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value take_events(const Napi::CallbackInfo& info);
  void reset_function(const Napi::CallbackInfo& info);
  Napi::Value dropped(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  TestEvents events_;
  const hca::BlockMakers makers_{.events = &events_};
  const hca::PortAttachments attachments_;
  hca::HcaBlocks device_{parameters_, counters_, host_, clock_, attachments_, makers_};
  const NamedBlock completion_queue_;
};

} // namespace fpga_verbs::test
