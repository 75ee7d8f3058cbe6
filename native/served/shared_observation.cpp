#include "served/shared_observation.h"

#include "board/board_clock.h"
#include "board/board_watch.h"
#include "served/shared_view.h"
#include "spec/contexts.h"
#include "spec/mailboxes.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <cstring>
#include <vector>

namespace fpga_verbs::served {

using board::WatchKind;

namespace {

namespace registers = spec::underlying_function;

constexpr unsigned kicks_log2 = 16; // 4 MiB
constexpr unsigned events_log2 = 8;
constexpr unsigned event_queue = spec::event_queues_per_function - 1; // drivers use the first ones
constexpr size_t events_head = 64;                                    // in the memory of the heads
constexpr unsigned takes_between_looks = 256;                         // whether the device is there
constexpr uint64_t between_takes = 1'000'000;                         // nanoseconds

// The entry of a ring that was written last by its last DWORD, if it has the phase that comes at `number`.
template <class Entry>
std::optional<Entry> entry_at(const SharedFunctionMemory& ring, uint32_t number, unsigned entries_log2) {
  const size_t at = (number & ((1U << entries_log2) - 1)) * sizeof(Entry);
  Entry entry;
  entry.dwords.back() = ring.record(at + sizeof(Entry) - sizeof(uint32_t)).load(std::memory_order_acquire);
  if (entry.phase() != ((number >> entries_log2 & 1) ^ 1))
    return std::nullopt;
  std::memcpy(entry.dwords.data(), ring.data + at, sizeof entry);
  return entry;
}

} // namespace

std::shared_ptr<SharedObservation> SharedObservation::make(std::shared_ptr<board::BoardFunction> function,
                                                           unsigned underlying_function,
                                                           std::string& failure) {
  std::shared_ptr<SharedObservation> made(new SharedObservation(std::move(function), underlying_function));
  const auto allocate = [&](SharedFunctionMemory& memory, size_t bytes) {
    const std::optional<SharedFunctionMemory> allocated = made->function_.allocate(bytes, failure);
    memory = allocated.value_or(SharedFunctionMemory());
    return allocated.has_value();
  };
  if (!allocate(made->kicks_, sizeof(spec::KickRecord) << kicks_log2) ||
      !allocate(made->events_, sizeof(spec::EventQueueEntry) << events_log2) ||
      !allocate(made->heads_, events_head + sizeof(spec::RingHead)) || !made->management_.begin(failure))
    return nullptr;
  return made;
}

SharedObservation::~SharedObservation() = default;

std::unique_ptr<board::BoardWatch> SharedObservation::watch(unsigned underlying_function, WatchKind kind) {
  if (kind != WatchKind::kicks && kind != WatchKind::events)
    return nullptr;
  const board::WatchMemory* const memory = watches_.begin(underlying_function, kind, {});
  if (memory == nullptr)
    return nullptr;
  if (follow_watches())
    return std::make_unique<board::BoardWatch>(shared_from_this(), underlying_function, kind, *memory);
  watches_.end(underlying_function, kind);
  return nullptr;
}

void SharedObservation::pause_watch(unsigned underlying_function, WatchKind kind) {
  watches_.pause(underlying_function, kind);
  follow_watches();
}

void SharedObservation::resume_watch(unsigned underlying_function, WatchKind kind) {
  watches_.resume(underlying_function, kind);
  follow_watches();
}

std::optional<board::WatchMemory> SharedObservation::end_watch(unsigned underlying_function, WatchKind kind) {
  std::optional<board::WatchMemory> memory = watches_.end(underlying_function, kind);
  follow_watches();
  return memory;
}

// False: the device has no event queue for it.
bool SharedObservation::follow_watches() {
  const hca::Watched watched = watches_.watched();
  if ((watched.kicks != 0) != kicks_on_) {
    if (kicks_on_)
      stop_kicks();
    else
      start_kicks();
  }
  if ((watched.events != 0) == events_on_)
    return true;
  if (!events_on_)
    return start_events();
  stop_events();
  return true;
}

void SharedObservation::start_kicks() {
  std::memset(kicks_.data, 0, kicks_.bytes);
  heads_.record(0).store(0, std::memory_order_release);
  kicks_taken_ = 0;
  kicks_dropped_ = 0;
  function_.write64_own(registers::kick_record_address, kicks_.address);
  function_.write64_own(registers::kick_record_head_address, heads_.address);
  registers::KickRecordControl control;
  control.set_enable(1);
  control.set_all_functions(function_.underlying_function() == 0 ? 1 : 0);
  control.set_entries_log2(kicks_log2);
  function_.write_own(registers::kick_record_control, control.bits);
  kicks_on_ = true;
}

// The device does not access the ring once the register is read.
void SharedObservation::stop_kicks() {
  function_.write_own(registers::kick_record_control, 0);
  function_.read_own(registers::kick_record_control);
  kicks_on_ = false;
}

bool SharedObservation::start_events() {
  std::memset(events_.data, 0, events_.bytes);
  heads_.record(events_head).store(0, std::memory_order_release);
  events_taken_ = 0;
  spec::CreateEventQueueInput input;
  input.set_event_queue(event_queue);
  input.set_entries_log2(events_log2);
  input.set_observes(1);
  input.set_pages(static_cast<uint32_t>(events_.bytes / spec::page_bytes));
  input.set_head_address(heads_.address + events_head);
  std::vector<uint8_t> mailbox(sizeof input);
  std::memcpy(mailbox.data(), &input, sizeof input);
  for (size_t offset = 0; offset < events_.bytes; offset += spec::page_bytes) {
    spec::PageTableEntry entry;
    entry.set_page((events_.address + offset) / spec::page_bytes);
    entry.set_valid(1);
    mailbox.resize(mailbox.size() + sizeof entry);
    std::memcpy(mailbox.data() + mailbox.size() - sizeof entry, &entry, sizeof entry);
  }
  events_on_ = management_.ask(spec::ManagementOpcode::create_event_queue, mailbox).has_value();
  return events_on_;
}

void SharedObservation::stop_events() {
  spec::ManagementCommand command;
  command.set_opcode(spec::ManagementOpcode::destroy_event_queue);
  command.set_input_modifier(event_queue);
  management_.ask(command);
  events_on_ = false;
}

bool SharedObservation::take() {
  if (++takes_ % takes_between_looks == 0 && watches() && function_.is_gone())
    lose();
  const bool kicks = kicks_on_ && take_kicks();
  const bool events = events_on_ && take_events();
  return kicks || events;
}

bool SharedObservation::take_kicks() {
  const uint32_t before = kicks_taken_;
  while (kicks_taken_ - before < 1U << kicks_log2) {
    const auto record = entry_at<spec::KickRecord>(kicks_, kicks_taken_, kicks_log2);
    if (!record)
      break;
    ++kicks_taken_;
    if (record->dropped() != kicks_dropped_)
      watches_.lose(WatchKind::kicks, record->dropped() - kicks_dropped_);
    kicks_dropped_ = record->dropped();
    watches_.kick_record(*record);
  }
  if (kicks_taken_ == before)
    return false;
  heads_.record(0).store(kicks_taken_, std::memory_order_release);
  return true;
}

bool SharedObservation::take_events() {
  const uint32_t before = events_taken_;
  while (events_taken_ - before < 1U << events_log2) {
    const auto entry = entry_at<spec::EventQueueEntry>(events_, events_taken_, events_log2);
    if (!entry)
      break;
    ++events_taken_;
    if (entry->lost() != 0)
      watches_.lose(WatchKind::events, entry->lost());
    watches_.event(entry->underlying_function(), *entry);
  }
  if (events_taken_ == before)
    return false;
  heads_.record(events_head).store(events_taken_, std::memory_order_release);
  return true;
}

std::unique_ptr<board::ObserverView> SharedObservationSource::observe(unsigned underlying_function) {
  return observation_->observes(underlying_function)
             ? std::make_unique<SharedView>(observation_, underlying_function)
             : nullptr;
}

// At most once a millisecond: what a record costs is to be copied, not to be looked for.
bool SharedObservationSource::advance() {
  if (!observation_->watches())
    return false;
  const uint64_t now = board::HostTime::now();
  if (now - taken_at_ < between_takes)
    return false;
  taken_at_ = now;
  observation_->take();
  return false;
}

} // namespace fpga_verbs::served
