#pragma once

#include "hca/base/hca_links.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/packet_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/receive/descriptor_fetch.h"
#include "hca/receive/receive_queue_entry_handler.h"
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
  Napi::Value take_flush(const Napi::CallbackInfo& info);
  Napi::Value was_woken_for_flush(const Napi::CallbackInfo& info);

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
  hca::ReadyBlocks ready_;         // the handler
  hca::ReadyBlocks receive_ready_; // who takes the flushes
  TestEvents events_;
  hca::ContextMemory context_memory_;
  hca::MemoryTranslation translation_;
  hca::QueuePairStateCache queue_pairs_;
  hca::PacketMemory packets_;
  hca::HcaLinks links_;
  hca::DataLink<spec::QueuePairNotice>& descriptors_wanted_ = links_.descriptors_wanted;
  hca::DataLink<spec::QueuePairNotice>& descriptors_fetched_ = links_.descriptors_fetched;
  hca::DataLink<spec::ReceiveUnit>& requests_accepted_ = links_.requests_accepted;
  hca::DataLink<spec::ReceiveUnit>& requests_placed_ = links_.requests_placed;
  hca::SharedReceiveQueues shared_receive_queues_;
  hca::DescriptorFetch descriptor_fetch_;
  hca::ReceiveQueueEntryHandler handler_;
};

} // namespace fpga_verbs::test
