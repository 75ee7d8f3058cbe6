#pragma once

#include "hca/block_makers.h"
#include "hca/hca_blocks.h"
#include "test/collect_buffer_port.h"
#include "test/device_links.h"
#include "test/hosted_port.h"

#include <napi.h>

#include <vector>

namespace fpga_verbs::test {

// The responder for vitest, from receive to response: request packets in wire format in, answers out.
class ResponderPort final : public HostedPort<ResponderPort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit ResponderPort(const Napi::CallbackInfo& info);

private:
  friend HostedPort<ResponderPort>;

  Napi::Value create_key(const Napi::CallbackInfo& info);
  void quiesce_key(const Napi::CallbackInfo& info);
  Napi::Value take_quiet_key(const Napi::CallbackInfo& info);
  Napi::Value create_completion_queue(const Napi::CallbackInfo& info);
  Napi::Value create_queue_pair(const Napi::CallbackInfo& info);
  void set_state(const Napi::CallbackInfo& info);
  Napi::Value state(const Napi::CallbackInfo& info);
  void set_peer(const Napi::CallbackInfo& info);
  void set_responder(const Napi::CallbackInfo& info);
  Napi::Value responder(const Napi::CallbackInfo& info);
  void quiesce(const Napi::CallbackInfo& info);
  Napi::Value take_quiet(const Napi::CallbackInfo& info);
  Napi::Value pins(const Napi::CallbackInfo& info);
  void reset_function(const Napi::CallbackInfo& info);

  Napi::Value arrive(const Napi::CallbackInfo& info);
  Napi::Value flush(const Napi::CallbackInfo& info);
  Napi::Value doorbell(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value take_answer(const Napi::CallbackInfo& info);
  void hold_descriptors(const Napi::CallbackInfo& info);
  void hold_response_buffers(const Napi::CallbackInfo& info);

  Napi::Value take_events(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  uint32_t make_table(unsigned underlying_function, const Napi::Value& addresses);
  const char* contradiction() const;

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  TestEvents events_;
  const hca::BlockMakers makers_{.events = &events_};
  const hca::PortAttachments attachments_;
  hca::HcaBlocks device_{parameters_, counters_, host_, clock_, attachments_, makers_};
  const std::vector<NamedBlock> responder_; // the blocks that step; the others do not
  hca::ReadyBlocks turns_;                  // of these
  bool descriptors_held_ = false;
};

} // namespace fpga_verbs::test
