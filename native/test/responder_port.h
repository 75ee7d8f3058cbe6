#pragma once

#include "hca/base/hca_links.h"
#include "hca/complete/completion_queue.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_access.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/packet_memory.h"
#include "hca/port/port_attributes.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/descriptor_fetch.h"
#include "hca/receive/dma_validation.h"
#include "hca/receive/receive.h"
#include "hca/receive/receive_queue_entry_handler.h"
#include "hca/respond/responder_resources.h"
#include "hca/respond/response.h"
#include "hca/respond/response_reads.h"
#include "hca/transmit/packet_templates.h"
#include "test/collect_buffer_port.h"
#include "test/hosted_port.h"

#include <napi.h>

#include <array>

namespace fpga_verbs::test {

// The responder for vitest, from receive to response: request packets in, as they are on the wire, and
// answers out.
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
  hca::ReadyBlocks ready_;
  TestEvents events_;
  hca::PortAttributes port_attributes_;
  hca::ContextMemory context_memory_;
  hca::MemoryTranslation translation_;
  hca::MemoryAccess memory_access_;
  hca::QueuePairStateCache queue_pairs_;
  hca::PacketMemory packets_;
  hca::PacketTemplates templates_;
  hca::ResponseReads reads_;
  hca::ResponderResources responder_resources_;
  hca::HcaLinks links_;
  hca::DataLink<spec::PacketUnit>& requests_arrived_ = links_.requests_arrived;
  hca::DataLink<spec::QueuePairNotice>& flushes_ = links_.flushes;
  hca::DataLink<spec::QueuePairNotice>& descriptors_wanted_ = links_.descriptors_wanted;
  hca::DataLink<spec::QueuePairNotice>& descriptors_fetched_ = links_.descriptors_fetched;
  hca::DataLink<spec::ReceiveUnit>& requests_accepted_ = links_.requests_accepted;
  hca::DataLink<spec::ReceiveUnit>& requests_placed_ = links_.requests_placed;
  hca::DataLink<spec::AnswerUnit>& answers_ = links_.answers;
  hca::DataLink<spec::PacketUnit>& responses_built_ = links_.responses_built;
  hca::CompletionQueue completion_queue_;
  hca::SharedReceiveQueues shared_receive_queues_;
  hca::DescriptorFetch descriptor_fetch_;
  hca::Receive receive_;
  hca::ReceiveQueueEntryHandler receive_queue_entry_handler_;
  hca::DmaValidation dma_validation_;
  hca::Response response_;
  std::array<hca::Block*, 6> blocks_;
  bool descriptors_held_ = false;
};

} // namespace fpga_verbs::test
