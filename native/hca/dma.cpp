#include "hca/dma.h"

#include "hca/packet_sequence_number.h"
#include "hca/send_work_request.h"

#include <algorithm>
#include <cassert>

namespace fpga_verbs::hca {

namespace {

using spec::CompletionStatus;

KeyAccess access_of(const spec::QueuePairControl& control, const spec::GatherEntry& entry) {
  return {.underlying_function = control.underlying_function(),
          .protection_domain = control.protection_domain(),
          .key = entry.local_key(),
          .address = entry.address(),
          .length = entry.length()};
}

} // namespace

Dma::Dma(const HcaParameters& parameters, CollectBuffer& collect_buffer, QueuePairStateCache& queue_pairs,
         MemoryAccess& memory, PacketMemory& packets, DataLink<spec::KickUnit, 8>& executions,
         DataLink<spec::PacketUnit, 16>& packets_gathered)
    : collect_buffer_(collect_buffer), queue_pairs_(queue_pairs), memory_(memory), packets_(packets),
      executions_(executions), packets_gathered_(packets_gathered),
      // Each command holds an execution credit, so that there is an entry for each.
      commands_({.entries = execution_credits(parameters),
                 .lists = execution_credits(parameters),
                 .ready_on_push = true}) {}

bool Dma::step() {
  const bool taken = take_command();
  return serve() || taken;
}

bool Dma::take_command() {
  if (executions_.empty())
    return false;
  const spec::KickUnit kick = executions_.front();
  executions_.pop();
  [[maybe_unused]] const auto pushed = commands_.push(kick.queue_pair_number(), kick);
  assert(pushed.result == LinkedListResult::ok);
  return true;
}

// The next packet of the queue pair whose turn it is.
bool Dma::serve() {
  if (!commands_.lists_ready().any() || !packets_gathered_.has_credit())
    return false;
  const std::optional<uint16_t> packet = packets_.allocate(PacketUse::request);
  if (!packet)
    return false;
  const uint16_t list = commands_.arbitrate(1);
  commands_.reset_peek_pointer(list);
  const spec::KickUnit kick = commands_.peek(list).unit;
  const auto buffer = static_cast<uint16_t>(kick.physical_collect_buffer());
  PhysicalCollectBuffer& pcb = collect_buffer_.buffer(buffer);
  Execution& execution = pcb.execution;
  const auto found = queue_pairs_.find(kick.underlying_function(), kick.queue_pair_number());
  // A retry, or the end of its queue pair, may have overtaken the command: it goes no further, and ends
  // behind those of its packets that are on their way.
  const bool abandoned =
      !found || found->control.destroying() != 0 || execution.retry_epoch != found->completion.retry_epoch();
  const bool first = execution.next_packet == 0;
  if (!abandoned && execution.kick.status() == CompletionStatus::success)
    execution.kick.set_status(gather(found->control, pcb, *packet));
  const bool failed = !abandoned && execution.kick.status() != CompletionStatus::success;
  const bool has_packet = !abandoned && !failed;
  const bool last = !has_packet || execution.next_packet >= execution.packets;
  spec::PacketUnit unit;
  unit.set_packet(has_packet ? *packet : no_packet);
  unit.set_physical_collect_buffer(buffer);
  unit.set_underlying_function(kick.underlying_function());
  unit.set_queue_pair_number(kick.queue_pair_number());
  unit.set_first(first);
  unit.set_last(last);
  packets_gathered_.push(unit);
  if (!has_packet)
    packets_.release(*packet);
  // One that is flushed follows the one that failed, which may be over already.
  if (failed && execution.kick.status() != CompletionStatus::work_request_flushed_error)
    queue_pairs_.set_send_error(kick.underlying_function(), kick.queue_pair_number(), true);
  if (last)
    commands_.pop(list);
  return true;
}

// Fills the packet whose turn it is, and turns to the next.
CompletionStatus Dma::gather(const spec::QueuePairControl& control, PhysicalCollectBuffer& pcb,
                             uint16_t packet) {
  // It may have failed since the command was started.
  if (control.state() == spec::QueuePairState::error || control.send_error() != 0)
    return CompletionStatus::work_request_flushed_error;
  Execution& execution = pcb.execution;
  assert(execution.next_packet < execution.packets);
  Packet& filled = packets_[packet];
  filled.payload = spec::packet_headroom;
  filled.payload_bytes = 0;
  filled.number = execution.next_packet;
  if (is_read_or_atomic(pcb.header().opcode())) {
    execution.next_packet = execution.packets;
    return check_scatter(control, pcb);
  }
  const uint32_t mtu = path_mtu_bytes(static_cast<uint32_t>(control.path_mtu()));
  const uint64_t offset = uint64_t{execution.next_packet} * mtu;
  const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(mtu, execution.message_length - offset));
  ++execution.next_packet;
  filled.payload_bytes = static_cast<uint16_t>(bytes);
  uint8_t* target = packets_.bytes(packet) + filled.payload;
  if (pcb.header().inline_data() != 0) {
    std::memcpy(target, pcb.data.data() + spec::CommandHeader::bytes + offset, bytes);
    return CompletionStatus::success;
  }
  return read_list(control, pcb, offset, target, bytes);
}

// Reads `bytes` of what the gather list names, from `offset` on, which never goes back.
CompletionStatus Dma::read_list(const spec::QueuePairControl& control, PhysicalCollectBuffer& pcb,
                                uint64_t offset, uint8_t* target, uint32_t bytes) {
  Execution& execution = pcb.execution;
  const std::span<const spec::GatherEntry> list = gather_list(pcb);
  while (bytes != 0) {
    const spec::GatherEntry& entry = list[execution.gather_entry];
    const uint64_t end = execution.entry_begin + entry.length();
    if (end <= offset) {
      execution.entry_begin = end;
      ++execution.gather_entry;
      continue;
    }
    const auto piece = static_cast<uint32_t>(std::min<uint64_t>(bytes, end - offset));
    KeyAccess access = access_of(control, entry);
    access.address += offset - execution.entry_begin;
    access.length = piece;
    if (memory_.read(access, target) != AccessFault::none)
      return CompletionStatus::local_protection_error;
    target += piece;
    offset += piece;
    bytes -= piece;
  }
  return CompletionStatus::success;
}

// What an answer is scattered to has to be there before it is asked for.
CompletionStatus Dma::check_scatter(const spec::QueuePairControl& control, const PhysicalCollectBuffer& pcb) {
  for (const spec::GatherEntry& entry : gather_list(pcb)) {
    KeyAccess access = access_of(control, entry);
    access.rights = right(spec::AccessFlag::local_write);
    if (memory_.check(access) != AccessFault::none)
      return CompletionStatus::local_protection_error;
  }
  return CompletionStatus::success;
}

} // namespace fpga_verbs::hca
