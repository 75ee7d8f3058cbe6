#include "test/pipeline_sink.h"

#include "hca/collect/finish.h"

namespace fpga_verbs::test {

PipelineSink::PipelineSink(hca::Counters& counters, hca::CollectBufferPort& collect_buffer,
                           hca::PhysicalCollectBuffers& buffers, hca::KickRecords& kick_records,
                           hca::DataLink<spec::KickUnit>& executions,
                           hca::DataLink<spec::FinishUnit>& finishes_sent)
    : counters_(counters), collect_buffer_(collect_buffer), buffers_(buffers), kick_records_(kick_records),
      executions_(executions), finishes_sent_(finishes_sent) {}

bool PipelineSink::step() {
  if (executions_.empty() || !finishes_sent_.has_credit())
    return false;
  const spec::KickUnit unit = executions_.front();
  executions_.pop();
  const auto buffer = static_cast<uint16_t>(unit.physical_collect_buffer());
  kick_records_.sent(unit, hca::no_buffer, buffers_[buffer].header().opcode(),
                     kick_records_.begin(unit.underlying_function()));
  collect_buffer_.release(buffer);
  hca::FunctionCounters& counters = counters_.function[unit.underlying_function()];
  ++(unit.status() == spec::CompletionStatus::success ? counters.commands_sent : counters.commands_failed);
  finishes_sent_.push(hca::finish_of(unit));
  return true;
}

} // namespace fpga_verbs::test
