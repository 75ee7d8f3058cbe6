#include "hca/transmit/dma.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/send_queue/send_work_request.h"

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

// A retry, or the end of its queue pair, may have overtaken a command.
bool is_abandoned(const QueuePairParts& queue_pair, const Execution& execution) {
  return queue_pair.control.destroying() != 0 ||
         execution.retry_epoch != queue_pair.transport().completion().retry_epoch();
}

spec::PacketUnit unit_of(const spec::KickUnit& kick, uint16_t packet, bool first, bool last) {
  spec::PacketUnit unit;
  unit.set_packet(packet);
  unit.set_physical_collect_buffer(kick.physical_collect_buffer());
  unit.set_underlying_function(kick.underlying_function());
  unit.set_queue_pair_number(kick.queue_pair_number());
  unit.set_first(first);
  unit.set_last(last);
  return unit;
}

// Whether the next packet of a command carries data from host memory.
bool needs_data(const spec::QueuePairControl& control, const PhysicalCollectBuffer& pcb) {
  const spec::CommandHeader& header = pcb.header();
  return control.state() != spec::QueuePairState::error && control.send_error() == 0 &&
         pcb.execution.kick.status() == CompletionStatus::success && !is_local_operation(header.opcode()) &&
         !is_read_or_atomic(header.opcode()) && header.inline_data() == 0;
}

} // namespace

Dma::Dma(const HcaParameters& parameters, PhysicalCollectBuffers& buffers, QueuePairStateCache& queue_pairs,
         MemoryAccess& memory, HostReads& reads, KeyTable& keys, PacketMemory& packets,
         DataLink<spec::KickUnit>& executions, DataLink<spec::PacketUnit>& packets_gathered,
         const DataLink<spec::PacketUnit>& requests_built)
    : buffers_(buffers), queue_pairs_(queue_pairs), memory_(memory), reads_(reads), keys_(keys),
      windows_(keys), packets_(packets), executions_(executions), packets_gathered_(packets_gathered),
      most_on_way_(static_cast<uint32_t>(requests_built.depth())),
      // Each command holds an execution credit, so that there is an entry for each.
      commands_({.entries = execution_credits(parameters),
                 .lists = execution_credits(parameters),
                 .ready_on_push = true}),
      waiting_(execution_credits(parameters)) {}

bool Dma::step() {
  bool resumed = resume_waiting();
  if (reads_.take_time()) [[unlikely]]
    resumed |= resume_arrived();
  const bool passed = commands_.empty() && pass();
  const bool taken = !passed && take_command();
  return (passed || serve() || taken || resumed) && (commands_.lists_ready().any() || !executions_.empty());
}

// No more packets are on their way than can wait at the port, so that packet_builder passes each by its empty
// list, and a short message waits behind as many.
std::optional<uint16_t> Dma::buffer_for_packet() {
  if (!packets_gathered_.has_credit())
    return std::nullopt;
  if (packets_.used(PacketUse::request) < most_on_way_)
    return packets_.allocate(PacketUse::request);
  packets_.want(PacketUse::request);
  return std::nullopt;
}

// Nothing is stored while no command waits: an empty queue is bypassed, in RTL too. A command with more
// packets is stored behind its first, and one that waits.
bool Dma::pass() {
  if (executions_.empty() || reads_.take_time())
    return false;
  const std::optional<uint16_t> packet = buffer_for_packet();
  if (!packet)
    return false;
  begin(executions_.front(), *packet);
  executions_.pop();
  return true;
}

Dma::Taken Dma::take_at_once(const spec::KickUnit& kick) {
  if (!commands_.empty() || reads_.take_time())
    return Taken::no;
  const std::optional<uint16_t> packet = buffer_for_packet();
  if (!packet)
    return Taken::no;
  return begin(kick, *packet) == Progress::more ? Taken::more : Taken::done;
}

Dma::TakenTrain Dma::take_train(std::span<const spec::KickUnit> train) {
  TakenTrain taken;
  if (!commands_.empty() || reads_.take_time())
    return taken;
  packets_gathered_.begin_train();
  for (Progress progress = Progress::done; taken.units != train.size() && progress == Progress::done;) {
    const std::optional<uint16_t> packet = buffer_for_packet();
    if (!packet)
      break;
    progress = begin(train[taken.units++], *packet);
    taken.more = progress == Progress::more;
  }
  packets_gathered_.end_train();
  return taken;
}

Dma::Progress Dma::begin(const spec::KickUnit& kick, uint16_t packet) {
  const Progress progress = work_on(kick, packet);
  if (progress == Progress::done)
    return progress;
  const auto [result, list, entry] = commands_.push(kick.queue_pair_number(), kick);
  assert(result == LinkedListResult::ok);
  if (progress == Progress::waits_for_key) {
    commands_.mark_not_ready(entry);
    waiting_.set(list);
  }
  return progress;
}

// A key that a unit waits for may be idle: all waiting units check.
bool Dma::resume_waiting() {
  if (!waiting_.any() || idle_seen_ == keys_.idle_count())
    return false;
  while (waiting_.any()) {
    const auto list = static_cast<uint16_t>(waiting_.take_first());
    commands_.mark_ready(commands_.head(list));
  }
  return true;
}

bool Dma::resume_arrived() {
  bool resumed = false;
  while (const std::optional<uint16_t> list = reads_.take_arrived(HostReader::dma)) {
    commands_.mark_ready(commands_.head(*list));
    resumed = true;
  }
  return resumed;
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
  if (!commands_.lists_ready().any())
    return false;
  const std::optional<uint16_t> packet = buffer_for_packet();
  if (!packet)
    return false;
  const uint16_t list = commands_.arbitrate(1);
  if (reads_.take_time()) [[unlikely]] {
    if (!has_data(list)) {
      packets_.release(*packet);
      commands_.mark_not_ready(commands_.head(list));
      return true;
    }
    reader_ = list;
  }
  const Progress progress = serve_train(list, *packet);
  if (reader_) [[unlikely]] {
    reads_.end(HostReader::dma, list);
    reader_.reset();
  }
  switch (progress) {
  case Progress::done:
    commands_.pop_front(list);
    break;
  case Progress::waits_for_key:
    commands_.mark_not_ready(commands_.head(list));
    waiting_.set(list);
    break;
  case Progress::more:
    break;
  }
  return true;
}

// The next packet of a command, and those behind it while no other command could have its turn.
Dma::Progress Dma::serve_train(uint16_t list, uint16_t packet) {
  const spec::KickUnit kick = commands_.front(list);
  const bool is_alone = executions_.empty() && commands_.lists_ready().find_next(list) == list;
  uint32_t left = is_alone && !reader_ ? most_packets_ : 1;
  if (left == 1)
    return work_on(kick, packet);
  packets_gathered_.begin_train();
  Progress progress = work_on(kick, packet);
  for (--left; progress == Progress::more && left != 0;) {
    uint32_t gathered = 0;
    progress = gather_together(kick, left, gathered);
    left -= gathered;
    if (gathered != 0)
      continue;
    const std::optional<uint16_t> next = buffer_for_packet();
    if (!next)
      break;
    progress = work_on(kick, *next);
    --left;
  }
  packets_gathered_.end_train();
  return progress;
}

// At most so many of the next packets of a command of which one was just sent, as far as their payload lies
// in one gather entry, and the memory behind it is contiguous and permitted.
Dma::Progress Dma::gather_together(const spec::KickUnit& kick, uint32_t most, uint32_t& gathered) {
  PhysicalCollectBuffer& pcb = buffers_[static_cast<uint16_t>(kick.physical_collect_buffer())];
  Execution& execution = pcb.execution;
  const auto found = queue_pairs_.find(kick.underlying_function(), kick.queue_pair_number());
  if (!found || pcb.header().inline_data() != 0)
    return Progress::more;
  const spec::QueuePairControl& control = found->control;
  const uint32_t mtu = TransportPath(control).mtu_bytes();
  const uint64_t offset = uint64_t{execution.next_packet} * mtu;
  const spec::GatherEntry& entry = gather_list(pcb)[execution.gather_entry];
  const uint64_t entry_end = execution.entry_begin + entry.length();
  const uint64_t end = std::min(entry_end, offset + uint64_t{most} * mtu);
  const bool is_end = end == execution.message_length;
  if (end <= offset || (!is_end && end - offset < mtu))
    return Progress::more;
  uint64_t left = is_end ? end - offset : (end - offset) / mtu * mtu;
  KeyAccess access = access_of(control, entry);
  access.address += offset - execution.entry_begin;
  access.length = left;
  const std::optional<uint64_t> memory = memory_.find_granted(access);
  if (!memory)
    return Progress::more;
  spec::PacketUnit unit = unit_of(kick, no_packet, false, false);
  for (uint64_t address = *memory; left != 0;) {
    const std::optional<uint16_t> packet = buffer_for_packet();
    if (!packet)
      return Progress::more;
    Packet& filled = packets_[*packet];
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(mtu, left));
    filled.payload = spec::packet_headroom;
    filled.payload_bytes = static_cast<uint16_t>(bytes);
    filled.number = execution.next_packet++;
    ++gathered;
    if (memory_.read_granted(access.underlying_function, address, packets_.bytes(*packet) + filled.payload,
                             bytes) != AccessFault::none) {
      execution.kick.set_status(CompletionStatus::local_protection_error);
      hand_over_failed(kick, execution, *packet, false);
      return Progress::done;
    }
    address += bytes;
    left -= bytes;
    const bool last = execution.next_packet == execution.packets;
    unit.set_packet(*packet);
    unit.set_last(last);
    packets_gathered_.hand_over(unit);
    if (last)
      return Progress::done;
  }
  return Progress::more;
}

// Whether the data of a list's next packet is here, or it needs none. Otherwise its reads are under way.
bool Dma::has_data(uint16_t list) {
  const spec::KickUnit kick = commands_.front(list);
  const PhysicalCollectBuffer& pcb = buffers_[static_cast<uint16_t>(kick.physical_collect_buffer())];
  accesses_.clear();
  const auto found = queue_pairs_.find(kick.underlying_function(), kick.queue_pair_number());
  if (found && !is_abandoned(*found, pcb.execution) && needs_data(found->control, pcb))
    list_accesses(found->control, pcb);
  return reads_.are_here(HostReader::dma, list, accesses_);
}

// The next packet of a command, in this buffer if it has one.
Dma::Progress Dma::work_on(const spec::KickUnit& kick, uint16_t packet) {
  const auto buffer = static_cast<uint16_t>(kick.physical_collect_buffer());
  PhysicalCollectBuffer& pcb = buffers_[buffer];
  Execution& execution = pcb.execution;
  const auto found = queue_pairs_.find(kick.underlying_function(), kick.queue_pair_number());
  // An abandoned command goes no further, and ends behind those of its packets that are on their way.
  const bool abandoned = !found || is_abandoned(*found, execution);
  const bool first = execution.next_packet == 0;
  const bool is_local = is_local_operation(pcb.header().opcode());
  if (!abandoned && execution.kick.status() == CompletionStatus::success) {
    const std::optional<CompletionStatus> status =
        is_local ? carry_out(found->control, pcb) : gather(found->control, pcb, packet);
    if (!status) {
      packets_.release(packet);
      return Progress::waits_for_key;
    }
    execution.kick.set_status(*status);
  }
  if (!abandoned && !is_local && execution.kick.status() == CompletionStatus::success)
    return hand_over(kick, execution, packet, first) ? Progress::done : Progress::more;
  if (abandoned || execution.kick.status() == CompletionStatus::success)
    hand_over_last(kick, packet, first);
  else
    hand_over_failed(kick, execution, packet, first);
  return Progress::done;
}

// A packet that is sent. True: it is the last of its command, whose PCB may come free.
bool Dma::hand_over(const spec::KickUnit& kick, const Execution& execution, uint16_t packet, bool first) {
  const bool last = execution.next_packet >= execution.packets;
  packets_gathered_.hand_over(unit_of(kick, packet, first, last));
  return last;
}

// The end of a command without a packet.
void Dma::hand_over_last(const spec::KickUnit& kick, uint16_t packet, bool first) {
  packets_.release(packet);
  packets_gathered_.hand_over(unit_of(kick, no_packet, first, true));
}

void Dma::hand_over_failed(const spec::KickUnit& kick, const Execution& execution, uint16_t packet,
                           bool first) {
  // A flushed command follows the failed one, which may be over already.
  if (execution.kick.status() != CompletionStatus::work_request_flushed_error)
    queue_pairs_.set_send_error(kick.underlying_function(), kick.queue_pair_number(), true);
  hand_over_last(kick, packet, first);
}

// A bind or local invalidate. Nothing: it waits until no access with the key is in flight.
std::optional<CompletionStatus> Dma::carry_out(const spec::QueuePairControl& control,
                                               const PhysicalCollectBuffer& pcb) {
  if (control.state() == spec::QueuePairState::error || control.send_error() != 0)
    return CompletionStatus::work_request_flushed_error;
  const spec::CommandHeader& header = pcb.header();
  const MemoryWindows::Owner owner{.underlying_function = control.underlying_function(),
                                   .queue_pair_number = pcb.execution.kick.queue_pair_number(),
                                   .protection_domain = control.protection_domain()};
  idle_seen_ = keys_.idle_count();
  const MemoryWindows::Outcome outcome = header.opcode() == spec::Opcode::bind_memory_window
                                             ? windows_.bind(owner, header.remote_key(), binding_of(pcb))
                                             : windows_.invalidate(owner, header.immediate_data());
  switch (outcome) {
  case MemoryWindows::Outcome::done:
    return CompletionStatus::success;
  case MemoryWindows::Outcome::waits:
    return std::nullopt;
  case MemoryWindows::Outcome::refused:
    break;
  }
  return CompletionStatus::memory_window_bind_error;
}

// Fills the packet whose turn it is, and advances to the next.
CompletionStatus Dma::gather(const spec::QueuePairControl& control, PhysicalCollectBuffer& pcb,
                             uint16_t packet) {
  // The queue pair may have failed since the command started.
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
  const uint32_t mtu = TransportPath(control).mtu_bytes();
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

// Reads `bytes` from the gather list at `offset`, which never goes back.
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
    if (reads_.read(HostReader::dma, reader_, access, target) != AccessFault::none)
      return CompletionStatus::local_protection_error;
    target += piece;
    offset += piece;
    bytes -= piece;
  }
  return CompletionStatus::success;
}

// The accesses of read_list() for the next packet.
void Dma::list_accesses(const spec::QueuePairControl& control, const PhysicalCollectBuffer& pcb) {
  const Execution& execution = pcb.execution;
  const std::span<const spec::GatherEntry> list = gather_list(pcb);
  const uint32_t mtu = TransportPath(control).mtu_bytes();
  uint64_t offset = uint64_t{execution.next_packet} * mtu;
  const uint64_t packet_end = std::min(offset + mtu, execution.message_length);
  uint64_t entry_begin = execution.entry_begin;
  for (uint32_t index = execution.gather_entry; offset < packet_end; ++index) {
    const uint64_t entry_end = entry_begin + list[index].length();
    if (const uint64_t end = std::min(packet_end, entry_end); end > offset) {
      KeyAccess access = access_of(control, list[index]);
      access.address += offset - entry_begin;
      access.length = end - offset;
      accesses_.push_back(access);
      offset = end;
    }
    entry_begin = entry_end;
  }
}

// The memory for an answer must be accessible before the request is sent.
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
