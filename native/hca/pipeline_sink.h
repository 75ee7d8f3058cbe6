#pragma once

#include "hca/block.h"
#include "hca/clock.h"
#include "hca/collect_buffer.h"
#include "hca/completion_queue.h"
#include "hca/counters.h"
#include "hca/data_link.h"
#include "hca/kick_records.h"
#include "hca/queue_pair_state_cache.h"
#include "spec/data_units.h"

namespace fpga_verbs::hca {

// Stands where the pipeline begins: a command is sent, and completed, as soon as it arrives. Writes its
// record and, if one is wanted, its completion, counts it, and gives back its PCB and both credits.
class PipelineSink final : public Block {
public:
  PipelineSink(Counters& counters, const Clock& clock, CollectBuffer& collect_buffer,
               QueuePairStateCache& queue_pairs, CompletionQueue& completion_queue, KickRecords& kick_records,
               DataLink<spec::KickUnit, 8>& executions, DataLink<spec::FinishUnit, 16>& finishes_sent);

  bool step() override;

private:
  void complete(const spec::KickUnit& unit, const spec::CommandHeader& command);

  Counters& counters_;
  const Clock& clock_;
  CollectBuffer& collect_buffer_;
  QueuePairStateCache& queue_pairs_;
  CompletionQueue& completion_queue_;
  KickRecords& kick_records_;
  DataLink<spec::KickUnit, 8>& executions_;
  DataLink<spec::FinishUnit, 16>& finishes_sent_;
};

} // namespace fpga_verbs::hca
