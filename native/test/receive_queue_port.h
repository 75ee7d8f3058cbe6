#pragma once

#include "hca/block_makers.h"
#include "hca/hca_blocks.h"
#include "test/collect_buffer_port.h"
#include "test/hosted_port.h"

#include <napi.h>

namespace fpga_verbs::test {

// The two blocks that read receive queues, for vitest: descriptor_fetch, and receive_queue_entry_handler
// between its links.
class ReceiveQueuePort final : public HostedPort<ReceiveQueuePort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit ReceiveQueuePort(const Napi::CallbackInfo& info);

private:
  friend HostedPort<ReceiveQueuePort>;

  Napi::Value create_queue_pair(const Napi::CallbackInfo& info);
  void set_state(const Napi::CallbackInfo& info);
  Napi::Value state(const Napi::CallbackInfo& info);
  Napi::Value responder(const Napi::CallbackInfo& info);
  void set_position(const Napi::CallbackInfo& info);
  void reset_queue_pair(const Napi::CallbackInfo& info);
  void reset_function(const Napi::CallbackInfo& info);
  Napi::Value take_events(const Napi::CallbackInfo& info);
  Napi::Value dma_faults(const Napi::CallbackInfo& info);

  Napi::Value take(const Napi::CallbackInfo& info);
  Napi::Value taken(const Napi::CallbackInfo& info);
  Napi::Value doorbell(const Napi::CallbackInfo& info);
  Napi::Value take_doorbell(const Napi::CallbackInfo& info);
  Napi::Value was_woken_by_doorbell(const Napi::CallbackInfo& info);

  Napi::Value accept(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value take_placed(const Napi::CallbackInfo& info);
  Napi::Value entry(const Napi::CallbackInfo& info);
  void release(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);
  Napi::Value references(const Napi::CallbackInfo& info);
  Napi::Value places_filled(const Napi::CallbackInfo& info);

  uint32_t make_table(unsigned underlying_function, const Napi::Value& addresses);

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  TestEvents events_;
  const hca::BlockMakers makers_{.events = &events_};
  const hca::PortAttachments attachments_;
  hca::HcaBlocks device_{parameters_, counters_, host_, clock_, attachments_, makers_};
};

} // namespace fpga_verbs::test
