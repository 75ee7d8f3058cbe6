#pragma once

#include "hca/base/block.h"
#include "hca/base/counters.h"
#include "hca/base/data_link.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/collect/kick_records.h"
#include "spec/data_units.h"

namespace fpga_verbs::test {

// In place of the pipeline, for tests of the blocks before it: a command counts as sent as soon as it
// arrives. Writes its record, counts it, and releases its PCB and both credits.
class PipelineSink final : public hca::Block {
public:
  PipelineSink(hca::Counters& counters, hca::CollectBufferPort& collect_buffer,
               hca::PhysicalCollectBuffers& buffers, hca::KickRecords& kick_records,
               hca::DataLink<spec::KickUnit>& executions, hca::DataLink<spec::FinishUnit>& finishes_sent);

  bool step() override;

private:
  hca::Counters& counters_;
  hca::CollectBufferPort& collect_buffer_;
  hca::PhysicalCollectBuffers& buffers_;
  hca::KickRecords& kick_records_;
  hca::DataLink<spec::KickUnit>& executions_;
  hca::DataLink<spec::FinishUnit>& finishes_sent_;
};

} // namespace fpga_verbs::test
