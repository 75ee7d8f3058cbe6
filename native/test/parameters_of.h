#pragma once

#include "hca/base/parameters.h"
#include "spec/enums.h"

#include <napi.h>

namespace fpga_verbs::test {

// The parameters that a test names; the others have their defaults.
inline hca::HcaParameters parameters_of(const Napi::Object& options) {
  hca::HcaParameters parameters;
  const auto set = [&](const char* name, unsigned& value) {
    if (options.Has(name))
      value = options.Get(name).As<Napi::Number>().Uint32Value();
  };
  set("underlyingFunctions", parameters.underlying_functions);
  set("virtualCollectBuffers", parameters.virtual_collect_buffers);
  set("physicalCollectBuffers", parameters.physical_collect_buffers);
  set("dedicatedPhysicalCollectBuffers", parameters.dedicated_physical_collect_buffers);
  set("managementPhysicalCollectBuffers", parameters.management_physical_collect_buffers);
  set("transmitVirtualLanes", parameters.transmit_virtual_lanes);
  set("executionCreditsPerLane", parameters.execution_credits_per_lane);
  set("completionCreditsPerLane", parameters.completion_credits_per_lane);
  set("sharedExecutionCredits", parameters.shared_execution_credits);
  set("sharedCompletionCredits", parameters.shared_completion_credits);
  set("queuePairContextsCached", parameters.queue_pair_contexts_cached);
  set("schedulerBatch", parameters.scheduler_batch);
  set("ports", parameters.ports);
  set("boardNumber", parameters.board_number);
  set("queuePairs", parameters.queue_pairs);
  set("completionQueues", parameters.completion_queues);
  set("pageTableEntries", parameters.page_table_entries);
  set("memoryKeys", parameters.memory_keys);
  if (options.Has("acknowledgeCoalescing"))
    parameters.acknowledge_coalescing = options.Get("acknowledgeCoalescing").As<Napi::Boolean>().Value();
  if (options.Has("linkLayer"))
    parameters.link_layer =
        static_cast<spec::LinkLayer>(options.Get("linkLayer").As<Napi::Number>().Uint32Value());
  if (options.Has("scoreboardVariant"))
    parameters.scoreboard_variant = static_cast<spec::ScoreboardVariant>(
        options.Get("scoreboardVariant").As<Napi::Number>().Uint32Value());
  return parameters;
}

} // namespace fpga_verbs::test
