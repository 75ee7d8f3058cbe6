#pragma once

#include "hca/block.h"
#include "hca/clock.h"
#include "hca/collect_buffer.h"
#include "hca/counters.h"
#include "hca/data_link.h"
#include "hca/kick_records.h"
#include "spec/data_units.h"

namespace fpga_verbs::hca {

// Stands where the pipeline begins: a command is sent as soon as it arrives. Writes its record, counts it,
// and gives back its PCB and both credits.
class PipelineSink final : public Block {
public:
  PipelineSink(Counters& counters, const Clock& clock, CollectBuffer& collect_buffer,
               KickRecords& kick_records, DataLink<spec::KickUnit, 8>& executions,
               DataLink<spec::FinishUnit, 16>& finishes_sent);

  bool step() override;

private:
  Counters& counters_;
  const Clock& clock_;
  CollectBuffer& collect_buffer_;
  KickRecords& kick_records_;
  DataLink<spec::KickUnit, 8>& executions_;
  DataLink<spec::FinishUnit, 16>& finishes_sent_;
};

} // namespace fpga_verbs::hca
