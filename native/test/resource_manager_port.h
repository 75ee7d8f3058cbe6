#pragma once

#include "hca/hca.h"
#include "hca/hca_blocks.h"
#include "test/device_links.h"
#include "test/hosted_port.h"

#include <napi.h>

namespace fpga_verbs::test {

// resource_manager of a device for vitest, with the blocks that hold the objects that it manages:
// context_memory, memory_translation, queue_pair_state_cache, management_queue, event_queue,
// completion_queue, and collect_buffer for the management pages. The other blocks are not stepped.
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
  void remember(const Napi::CallbackInfo& info);
  Napi::Value find_granted(const Napi::CallbackInfo& info);
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
  void push(const Napi::CallbackInfo& info);
  Napi::Value pop(const Napi::CallbackInfo& info);
  Napi::Value credits(const Napi::CallbackInfo& info);
  void reset_function(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  Napi::Value verify(const Napi::CallbackInfo& info);

  hca::HcaParameters parameters_;
  hca::Counters counters_;
  const hca::PortAttachments attachments_;
  hca::HcaBlocks device_{parameters_, counters_, host_, clock_, attachments_, hca::model_blocks()};
  const NamedBlock resource_manager_;
};

} // namespace fpga_verbs::test
