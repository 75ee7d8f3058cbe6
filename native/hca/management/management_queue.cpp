#include "hca/management/management_queue.h"

#include <bit>

namespace fpga_verbs::hca {

namespace {

static_assert(spec::ManagementCommand::bytes == spec::ManagementCompletion::bytes);
constexpr uint32_t entry_bytes = spec::ManagementCommand::bytes;

// Distance of `number` ahead of `from`; negative: behind. Numbers are free-running.
constexpr int ahead(uint16_t number, uint16_t from) { return static_cast<int16_t>(number - from); }

constexpr uint16_t after(uint16_t number) { return static_cast<uint16_t>(number + 1); }

// Observers inspect as often as they like: that must not fill the event queue of the driver.
constexpr bool is_inspection(spec::ManagementOpcode opcode) {
  return opcode == spec::ManagementOpcode::inspect_queue_pairs ||
         opcode == spec::ManagementOpcode::inspect_regions ||
         opcode == spec::ManagementOpcode::inspect_registers;
}

} // namespace

ManagementQueue::ManagementQueue(Counters& counters, HostPort& host, const Clock& clock, EventPort& events)
    : counters_(counters), host_(host), clock_(clock), events_(events) {}

bool ManagementQueue::set_size(unsigned underlying_function,
                               spec::underlying_function::ManagementQueueSize size) {
  if (size.entries_log2() > largest_entries_log2)
    return false;
  queues_[underlying_function].size = size;
  return true;
}

bool ManagementQueue::set_send_queue_address(unsigned underlying_function, uint64_t address) {
  if (address % spec::page_bytes != 0)
    return false;
  queues_[underlying_function].send_queue_address = address;
  return true;
}

bool ManagementQueue::set_completion_queue_address(unsigned underlying_function, uint64_t address) {
  if (address % spec::page_bytes != 0)
    return false;
  Queue& queue = queues_[underlying_function];
  queue.completion_queue_address = address;
  queue.begun = true;
  queue.entries = uint32_t{1} << queue.size.entries_log2();
  queue.commands = queue.send_queue_address;
  queue.next = 0;
  queue.tail = 0;
  queue.answers = 0;
  update_owed(underlying_function);
  return true;
}

void ManagementQueue::doorbell(unsigned underlying_function,
                               spec::underlying_function::ManagementDoorbell doorbell) {
  set_tail(underlying_function, static_cast<uint16_t>(doorbell.tail()));
}

// A repeated tail is not an error: the management page may have been faster.
void ManagementQueue::set_tail(unsigned underlying_function, uint16_t tail) {
  Queue& queue = queues_[underlying_function];
  if (!queue.begun || ahead(tail, queue.next) > static_cast<int>(queue.entries)) {
    ++counters_.function[underlying_function].commands_refused;
    return;
  }
  if (ahead(tail, queue.tail) > 0)
    queue.tail = tail;
  update_owed(underlying_function);
}

bool ManagementQueue::accept(unsigned underlying_function, uint16_t sequence_number) {
  Queue& queue = queues_[underlying_function];
  if (!queue.begun) {
    ++counters_.function[underlying_function].commands_refused;
    return false;
  }
  const int distance = ahead(sequence_number, queue.next);
  if (distance < 0) {
    ++counters_.function[underlying_function].commands_stale;
    return false;
  }
  set_tail(underlying_function, after(sequence_number));
  if (distance > 0)
    return false;
  ++queue.next;
  update_owed(underlying_function);
  return true;
}

void ManagementQueue::update_owed(unsigned underlying_function) {
  const Queue& queue = queues_[underlying_function];
  const uint32_t bit = uint32_t{1} << underlying_function;
  if (queue.begun && queue.next != queue.tail) {
    owed_ |= bit;
    fetcher_.wake();
  } else {
    owed_ &= ~bit;
  }
}

std::optional<ManagementQueue::Fetched> ManagementQueue::fetch() {
  const uint32_t later = owed_ & (~uint32_t{0} << 1 << last_);
  last_ = static_cast<unsigned>(std::countr_zero(later != 0 ? later : owed_));
  Queue& queue = queues_[last_];
  Fetched fetched{.underlying_function = last_, .sequence_number = queue.next, .command = {}};
  const uint64_t address = queue.commands + uint64_t{queue.next % queue.entries} * entry_bytes;
  if (host_.read(last_, address, &fetched.command, entry_bytes) == DmaStatus::fault) {
    queue.begun = false;
    report_fault(last_, address);
    update_owed(last_);
    return std::nullopt;
  }
  ++queue.next;
  update_owed(last_);
  return fetched;
}

void ManagementQueue::complete(unsigned underlying_function, const spec::ManagementCompletion& completion) {
  Queue& queue = queues_[underlying_function];
  spec::ManagementCompletion written = completion;
  written.set_timestamp(clock_.now());
  written.set_phase(~(queue.answers / queue.entries) & 1);
  written.set_sequence(queue.answers);
  const uint64_t address =
      queue.completion_queue_address + uint64_t{queue.answers % queue.entries} * entry_bytes;
  ++queue.answers;
  if (host_.write(underlying_function, address, &written, entry_bytes) == DmaStatus::fault) {
    report_fault(underlying_function, address);
    return;
  }
  if (is_inspection(written.opcode()))
    return;
  spec::EventUnit event;
  event.set_type(spec::EventType::management_completion);
  event.set_underlying_function(underlying_function);
  event.set_object(written.send_queue_sequence_number());
  event.set_detail(written.token());
  events_.report(event);
}

void ManagementQueue::report_fault(unsigned underlying_function, uint64_t address) {
  ++counters_.function[underlying_function].dma_faults;
  spec::EventUnit event;
  event.set_type(spec::EventType::dma_fault);
  event.set_underlying_function(underlying_function);
  event.set_detail(address);
  events_.report(event);
}

void ManagementQueue::reset_function(unsigned underlying_function) {
  queues_[underlying_function] = {};
  update_owed(underlying_function);
}

void ManagementQueue::reset() {
  queues_ = {};
  owed_ = 0;
  last_ = 0;
}

} // namespace fpga_verbs::hca
