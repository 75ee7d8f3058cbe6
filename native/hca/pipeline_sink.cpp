#include "hca/pipeline_sink.h"

#include "hca/finish.h"

namespace fpga_verbs::hca {

namespace {

using spec::CompletionOpcode;
using spec::Opcode;

// What a completion says of a command; an opcode that there is not failed before it was anything.
CompletionOpcode completion_opcode(Opcode opcode) {
  switch (opcode) {
  case Opcode::rdma_write:
  case Opcode::rdma_write_with_immediate:
    return CompletionOpcode::rdma_write;
  case Opcode::rdma_read:
    return CompletionOpcode::rdma_read;
  case Opcode::atomic_compare_and_swap:
    return CompletionOpcode::compare_and_swap;
  case Opcode::atomic_fetch_and_add:
    return CompletionOpcode::fetch_and_add;
  case Opcode::bind_memory_window:
    return CompletionOpcode::bind_memory_window;
  case Opcode::local_invalidate:
    return CompletionOpcode::local_invalidate;
  default:
    return CompletionOpcode::send;
  }
}

} // namespace

PipelineSink::PipelineSink(Counters& counters, const Clock& clock, CollectBuffer& collect_buffer,
                           QueuePairStateCache& queue_pairs, CompletionQueue& completion_queue,
                           KickRecords& kick_records, DataLink<spec::KickUnit, 8>& executions,
                           DataLink<spec::FinishUnit, 16>& finishes_sent)
    : counters_(counters), clock_(clock), collect_buffer_(collect_buffer), queue_pairs_(queue_pairs),
      completion_queue_(completion_queue), kick_records_(kick_records), executions_(executions),
      finishes_sent_(finishes_sent) {}

bool PipelineSink::step() {
  if (executions_.empty() || !finishes_sent_.has_credit())
    return false;
  const spec::KickUnit unit = executions_.front();
  executions_.pop();
  const auto buffer = static_cast<uint16_t>(unit.physical_collect_buffer());
  const PhysicalCollectBuffer& pcb = collect_buffer_.buffer(buffer);
  const uint64_t now = clock_.now();
  kick_records_.sent(unit, no_buffer, pcb.header().opcode(), now, now);
  complete(unit, pcb.header());
  collect_buffer_.release(buffer);

  FunctionCounters& counters = counters_.function[unit.underlying_function()];
  ++(unit.status() == spec::CompletionStatus::success ? counters.commands_sent : counters.commands_failed);
  finishes_sent_.push(finish_of(unit));
  return true;
}

void PipelineSink::complete(const spec::KickUnit& unit, const spec::CommandHeader& command) {
  const auto found = queue_pairs_.find(unit.underlying_function(), unit.queue_pair_number());
  const bool has_failed = unit.status() != spec::CompletionStatus::success;
  if (!found || (!has_failed && command.signaled() == 0 && found->control.signal_all() == 0))
    return;
  spec::CompletionQueueEntry entry;
  entry.set_opcode(completion_opcode(command.opcode()));
  entry.set_status(unit.status());
  entry.set_queue_pair_number(unit.queue_pair_number());
  entry.set_port(found->control.port());
  entry.set_sequence_number(unit.send_queue_sequence_number());
  completion_queue_.write(unit.underlying_function(), found->control.send_completion_queue(), entry);
}

} // namespace fpga_verbs::hca
