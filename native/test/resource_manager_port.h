#pragma once

#include "hca/base/hca_links.h"
#include "hca/collect/collect_buffer.h"
#include "hca/collect/kick_records.h"
#include "hca/complete/completion_queue.h"
#include "hca/complete/event_queue.h"
#include "hca/kick/virtual_kick.h"
#include "hca/management/management_queue.h"
#include "hca/management/resource_manager.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/memory_translation.h"
#include "hca/port/port_attributes.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "test/hosted_port.h"

#include <array>
#include <napi.h>

#include <utility>
#include <vector>

namespace fpga_verbs::test {

// Keeps for a test which send queues go on, in the place of queue_pair_fetch.
class TestSendQueues final : public hca::SendQueuePort {
public:
  bool has_commands(uint32_t) const override { return false; }
  bool resume(unsigned underlying_function, uint32_t queue_pair_number) override {
    if (!has_credit)
      return false;
    resumed.emplace_back(underlying_function, queue_pair_number);
    return true;
  }

  bool has_credit = true;
  std::vector<std::pair<unsigned, uint32_t>> resumed;
};

// resource_manager and the blocks that hold what it manages, for vitest: context_memory, memory_translation,
// queue_pair_state_cache, management_queue, event_queue, completion_queue, and collect_buffer for the
// management pages.
class ResourceManagerPort final : public HostedPort<ResourceManagerPort> {
public:
  static Napi::Function define(Napi::Env env);
  explicit ResourceManagerPort(const Napi::CallbackInfo& info);

private:
  friend HostedPort<ResourceManagerPort>;

  // context_memory
  Napi::Value context_memory_needed(const Napi::CallbackInfo& info);
  Napi::Value open_context_memory(const Napi::CallbackInfo& info);
  void set_enabled(const Napi::CallbackInfo& info);

  // memory_translation
  Napi::Value create_table(const Napi::CallbackInfo& info);
  Napi::Value write_entries(const Napi::CallbackInfo& info);
  void destroy_table(const Napi::CallbackInfo& info);
  Napi::Value translate(const Napi::CallbackInfo& info);
  Napi::Value longest_table(const Napi::CallbackInfo& info);
  Napi::Value entries_free(const Napi::CallbackInfo& info);

  // memory_translation: keys
  Napi::Value check_access(const Napi::CallbackInfo& info);
  Napi::Value locate(const Napi::CallbackInfo& info);
  void begin_access(const Napi::CallbackInfo& info);
  void end_access(const Napi::CallbackInfo& info);
  Napi::Value keys_free(const Napi::CallbackInfo& info);

  // queue_pair_state_cache
  Napi::Value find(const Napi::CallbackInfo& info);
  Napi::Value set_requester(const Napi::CallbackInfo& info);
  Napi::Value set_state(const Napi::CallbackInfo& info);
  Napi::Value pin(const Napi::CallbackInfo& info);
  void unpin(const Napi::CallbackInfo& info);
  Napi::Value pins(const Napi::CallbackInfo& info);
  Napi::Value enter_error(const Napi::CallbackInfo& info);
  Napi::Value queue_pairs_free(const Napi::CallbackInfo& info);

  // management_queue and the management pages
  Napi::Value begin_management(const Napi::CallbackInfo& info);
  void doorbell(const Napi::CallbackInfo& info);
  Napi::Value lock_management(const Napi::CallbackInfo& info);
  void write_management_page(const Napi::CallbackInfo& info);
  Napi::Value can_accept_write(const Napi::CallbackInfo& info);

  // resource_manager and all
  Napi::Value write_completion(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value is_awake(const Napi::CallbackInfo& info);
  void push_unpinned(const Napi::CallbackInfo& info);
  void pop_unpinned(const Napi::CallbackInfo& info);
  void set_send_queue_credit(const Napi::CallbackInfo& info);
  Napi::Value take_resumed(const Napi::CallbackInfo& info);
  void reset_function(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  hca::DeviceRegisters device_;
  hca::ReadyBlocks ready_;
  TestSendQueues send_queues_;
  hca::HcaLinks hca_links_;
  hca::DataLink<spec::KickUnit>& kicks_collected_ = hca_links_.kicks_collected;
  hca::DataLink<spec::PostNotice>& post_notices_ = hca_links_.post_notices;
  hca::DataLink<spec::ManagementUnit>& management_units_ = hca_links_.management_units;
  hca::DataLink<spec::KickUnit>& kicks_scheduled_ = hca_links_.kicks_scheduled;
  hca::DataLink<spec::KickUnit>& kicks_started_ = hca_links_.kicks_started;
  hca::DataLink<spec::FinishUnit>& finishes_handed_back_ = hca_links_.finishes_handed_back;
  hca::DataLink<spec::FinishUnit>& finishes_sent_ = hca_links_.finishes_sent;
  hca::EventQueue event_queue_;
  hca::ContextMemory context_memory_;
  hca::MemoryTranslation memory_translation_;
  hca::QueuePairStateCache queue_pair_state_cache_;
  hca::VirtualQueuePairs virtual_queue_pairs_;
  hca::CompletionQueue completion_queue_;
  hca::KickRecords kick_records_;
  hca::PhysicalCollectBuffers buffers_{parameters_};
  hca::CollectBuffer collect_buffer_;
  hca::LaneMapReader lane_map_reader_{counters_, host_, event_queue_};
  hca::WaitingForRoom waiting_for_room_{parameters_};
  hca::VirtualKick virtual_kick_;
  hca::ManagementQueue management_queue_;
  hca::PortAttributes port_attributes_;
  hca::AddressHandles address_handles_;
  hca::SharedReceiveQueues shared_receive_queues_;
  std::array<link::Link*, spec::ports> links_{};
  hca::MulticastGroups multicast_groups_{links_};
  hca::PacketTemplates packet_templates_{port_attributes_};
  hca::ResourceManager resource_manager_;
};

} // namespace fpga_verbs::test
