#include "board/doorbell_probe.h"

#include "board/board_clock.h"
#include "board/device_thread.h"
#include "board/processor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sched.h>

namespace fpga_verbs::board {

namespace {

// Pins the calling thread for the lifetime of a scope.
class Pinned {
public:
  // Negative: leaves the affinity unchanged.
  explicit Pinned(int cpu)
      : pinned_(cpu >= 0 && sched_getaffinity(0, sizeof before_, &before_) == 0 && pin_to_cpu(cpu)),
        succeeded_(pinned_ || cpu < 0) {}
  ~Pinned() {
    if (pinned_)
      sched_setaffinity(0, sizeof before_, &before_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  bool succeeded() const { return succeeded_; }

private:
  cpu_set_t before_{};
  bool pinned_;
  bool succeeded_;
};

// An entry of a ring that the device writes.
template <typename Entry> Entry& entry_at(const uint8_t* ring, unsigned log2, uint32_t number) {
  const uint32_t slot = number & ((uint32_t{1} << log2) - 1);
  return *reinterpret_cast<Entry*>(const_cast<uint8_t*>(ring) + size_t{slot} * Entry::bytes);
}

// Whether the device has written the last DWORD of the next entry of a ring, and with it the whole entry.
template <typename Entry> bool has_come(const uint8_t* ring, unsigned log2, uint32_t taken) {
  constexpr size_t last_dword = Entry::bytes / sizeof(uint32_t) - 1;
  static_assert(Entry::phase_bit / 32 == last_dword);
  const std::atomic_ref<uint32_t> last(entry_at<Entry>(ring, log2, taken).dwords[last_dword]);
  Entry seen;
  seen.dwords[last_dword] = last.load(std::memory_order_acquire);
  return seen.phase() == (~(taken >> log2) & 1);
}

spec::KickRecord& record_at(const DoorbellSetup& setup, uint32_t number) {
  return entry_at<spec::KickRecord>(setup.records, setup.records_log2, number);
}

void store_head(uint8_t* head, uint32_t taken) {
  std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(head)).store(taken, std::memory_order_release);
}

double nanoseconds(uint64_t begin, uint64_t end) {
  return static_cast<double>(static_cast<int64_t>(end - begin));
}

// The fastest of several series: the cost of a stamp without interruptions.
double cost_of_stamp() {
  constexpr unsigned rows = 8;
  constexpr unsigned stamps = 64;
  double least = 0;
  for (unsigned row = 0; row < rows; ++row) {
    const uint64_t begin = HostTime::now();
    uint64_t end = begin;
    for (unsigned i = 0; i < stamps; ++i)
      end = HostTime::now();
    const double each = nanoseconds(begin, end) / stamps;
    if (row == 0 || each < least)
      least = each;
  }
  return least;
}

} // namespace

DoorbellProbe::DoorbellProbe(BoardFunction& function, const DoorbellSetup& setup)
    : function_(function), setup_(setup), polling_advances_(function.facts().progress != "own"),
      sequence_number_(setup.first_sequence_number) {}

DoorbellRun DoorbellProbe::run(size_t count, bool stamped, Poller poller) {
  poller_ = poller;
  std::vector<Observed> observed(stamped ? count : 0);
  DoorbellRun run;
  const Pinned pinned(setup_.cpu);
  if (!pinned.succeeded()) {
    run.failure = DoorbellFailure::not_pinned;
    return run;
  }
  run.nanoseconds_per_stamp = cost_of_stamp();
  const Correlation before = correlate();
  const uint64_t begin = HostTime::now();
  for (size_t post = 0; post < count && run.failure == DoorbellFailure::none; ++post)
    run.failure = stamped ? post_stamped(observed[post]) : post_unstamped();
  run.sequence_number = last_sequence_number();
  run.status = status_;
  if (run.failure != DoorbellFailure::none)
    return run;
  run.nanoseconds_per_post = nanoseconds(begin, HostTime::now()) / static_cast<double>(count);
  const Correlation after = correlate();
  run.clock_uncertainty = static_cast<double>(std::max(before.uncertainty, after.uncertainty));
  for (const Observed& each : observed)
    add(each, before, after, run.samples);
  return run;
}

DoorbellRun DoorbellProbe::rate(size_t count, unsigned commands_per_fence) {
  const uint32_t round = setup_.virtual_collect_buffers;
  DoorbellRun run;
  const Pinned pinned(setup_.cpu);
  if (!pinned.succeeded()) {
    run.failure = DoorbellFailure::not_pinned;
    return run;
  }
  for (uint32_t entry = 1; entry < round; ++entry)
    std::memcpy(entry_at(entry), setup_.command, setup_.command_bytes);
  uint64_t storing = 0;
  size_t posted = 0;
  const uint64_t begin = HostTime::now();
  for (; posted < count && run.failure == DoorbellFailure::none; posted += round)
    run.failure = post_round(commands_per_fence, storing);
  const double commands = static_cast<double>(posted);
  run.nanoseconds_per_post = nanoseconds(begin, HostTime::now()) / commands;
  run.nanoseconds_per_store = static_cast<double>(storing) / commands;
  run.sequence_number = last_sequence_number();
  run.status = status_;
  return run;
}

DoorbellFailure DoorbellProbe::post_round(unsigned commands_per_fence, uint64_t& storing) {
  const uint32_t round = setup_.virtual_collect_buffers;
  const uint32_t first = sequence_number_;
  for (uint32_t entry = 0; entry < round; ++entry)
    prepare(entry);
  const uint64_t begin = HostTime::now();
  for (uint32_t entry = 0; entry < round; ++entry) {
    const uint64_t page = uint64_t{entry} * setup_.virtual_collect_buffer_stride;
    function_.store_command(setup_.virtual_collect_buffer_bar, setup_.virtual_collect_buffer_offset + page,
                            entry_at(entry), setup_.command_bytes);
    if ((entry + 1) % commands_per_fence == 0 || entry + 1 == round)
      function_.fence();
  }
  storing += HostTime::now() - begin;
  for (uint32_t entry = 0; entry < round; ++entry)
    if (const DoorbellFailure failure = wait_for_completion_of((first + entry) & 0xffff);
        failure != DoorbellFailure::none)
      return failure;
  return DoorbellFailure::none;
}

// The command and its reference get the next sequence number; both are in the send queue, as a driver stores
// them.
void DoorbellProbe::prepare(uint32_t entry) {
  command(entry).set_send_queue_sequence_number(sequence_number_);
  const uint32_t slot = sequence_number_ & ((uint32_t{1} << setup_.send_queue_log2) - 1);
  spec::WorkQueueReference reference;
  reference.set_offset(setup_.entry_offset + entry * spec::command_bytes);
  reference.set_sequence_number(sequence_number_);
  reference.set_length(setup_.command_bytes);
  std::memcpy(setup_.references + size_t{slot} * spec::WorkQueueReference::bytes, &reference,
              sizeof reference);
  sequence_number_ = (sequence_number_ + 1) & 0xffff;
}

spec::CommandHeader& DoorbellProbe::command(uint32_t entry) const {
  return *reinterpret_cast<spec::CommandHeader*>(entry_at(entry));
}

uint32_t DoorbellProbe::last_sequence_number() const { return (sequence_number_ - 1) & 0xffff; }

bool DoorbellProbe::is_last(const spec::KickRecord& record) const {
  return record.send_queue_sequence_number() == last_sequence_number() &&
         record.queue_pair_number() == command().queue_pair_number();
}

DoorbellFailure DoorbellProbe::post_stamped(Observed& observed) {
  prepare();
  Stamps& stamps = observed.stamps;
  stamps.call = HostTime::now();
  function_.store_command(setup_.virtual_collect_buffer_bar, setup_.virtual_collect_buffer_offset,
                          setup_.command, setup_.command_bytes);
  stamps.last_store = HostTime::now();
  function_.fence();
  stamps.fenced = HostTime::now();
  const bool came = wait_for_record_of(stamps.last_store);
  stamps.record = HostTime::now();
  if (!came)
    return DoorbellFailure::no_record;
  const spec::KickRecord& record = record_at(setup_, records_taken_);
  if (!is_last(record))
    return DoorbellFailure::foreign_record;
  const DoorbellFailure completed = wait_for_completion();
  stamps.completion = HostTime::now();
  if (completed != DoorbellFailure::none)
    return completed;
  observed.first_write = record.begin();
  observed.kick = record.end();
  return wait_until_sent();
}

DoorbellFailure DoorbellProbe::post_unstamped() {
  prepare();
  function_.write_command(setup_.virtual_collect_buffer_bar, setup_.virtual_collect_buffer_offset,
                          setup_.command, setup_.command_bytes);
  const DoorbellFailure sent = wait_until_sent();
  return sent == DoorbellFailure::none ? wait_for_completion() : sent;
}

// Spins on the next entry of a ring.
template <typename Entry> bool DoorbellProbe::wait_for(const uint8_t* ring, unsigned log2, uint32_t taken) {
  constexpr uint64_t looks_between_clocks = 4096;
  uint64_t begin = 0;
  for (uint64_t looks = 1;; ++looks) {
    if (has_come<Entry>(ring, log2, taken))
      return true;
    if (polling_advances_)
      function_.advance();
    else
      relax_processor();
    if (looks % looks_between_clocks != 0)
      continue;
    const uint64_t now = HostTime::now();
    if (begin == 0)
      begin = now;
    else if (now - begin > setup_.timeout)
      return false;
    sched_yield(); // the device may share this CPU
  }
}

bool DoorbellProbe::wait_for_record() {
  return wait_for<spec::KickRecord>(setup_.records, setup_.records_log2, records_taken_);
}

// For a command whose last store was at that time.
bool DoorbellProbe::wait_for_record_of(uint64_t last_store) {
  if (polling_advances_ || poller_ == Poller::looks_all_the_time)
    return wait_for_record();
  while (HostTime::now() - last_store < record_pace_.delay()) {
  }
  const bool is_here = has_come<spec::KickRecord>(setup_.records, setup_.records_log2, records_taken_);
  record_pace_.looked(is_here);
  return is_here || wait_for_record();
}

DoorbellFailure DoorbellProbe::wait_for_completion_of(uint32_t sequence_number) {
  using Entry = spec::CompletionQueueEntry;
  if (!wait_for<Entry>(setup_.completions, setup_.completions_log2, completions_taken_))
    return DoorbellFailure::no_completion;
  const Entry& entry =
      board::entry_at<Entry>(setup_.completions, setup_.completions_log2, completions_taken_);
  const bool ours = entry.sequence_number() == sequence_number &&
                    entry.queue_pair_number() == command().queue_pair_number();
  status_ = entry.status();
  ++completions_taken_;
  store_head(setup_.completions_head, completions_taken_);
  if (!ours)
    return DoorbellFailure::foreign_record;
  return status_ == spec::CompletionStatus::success ? DoorbellFailure::none : DoorbellFailure::command_failed;
}

// The next command starts when all of this one is complete.
DoorbellFailure DoorbellProbe::wait_until_sent() {
  for (;;) {
    if (!wait_for_record())
      return DoorbellFailure::no_record;
    const spec::KickRecord& record = record_at(setup_, records_taken_);
    const bool ours = is_last(record);
    const bool sent = record.type() == spec::KickRecordType::sent;
    status_ = record.status();
    ++records_taken_;
    store_head(setup_.records_head, records_taken_);
    if (!ours)
      return DoorbellFailure::foreign_record;
    if (sent)
      return status_ == spec::CompletionStatus::success ? DoorbellFailure::none
                                                        : DoorbellFailure::command_failed;
  }
}

// The narrowest of several brackets of a read of the device clock.
DoorbellProbe::Correlation DoorbellProbe::correlate() {
  constexpr unsigned reads = 64;
  Correlation best{.host = 0, .ticks = 0, .uncertainty = ~uint64_t{0}};
  for (unsigned i = 0; i < reads; ++i) {
    const uint64_t begin = HostTime::now();
    const uint64_t low = function_.read32(setup_.clock_bar, setup_.clock_offset);
    const uint64_t end = HostTime::now();
    const uint64_t high = function_.read32(setup_.clock_bar, setup_.clock_offset + sizeof(uint32_t));
    const uint64_t uncertainty = (end - begin + 1) / 2;
    if (uncertainty < best.uncertainty)
      best = {.host = begin + (end - begin) / 2, .ticks = low | high << 32, .uncertainty = uncertainty};
  }
  return best;
}

// Uses the line through both correlations, which corrects clock drift.
double DoorbellProbe::host_time(uint64_t ticks, const Correlation& before, const Correlation& after) const {
  const double nominal = 1e9 / static_cast<double>(setup_.clock_frequency);
  const double apart = nanoseconds(before.ticks, after.ticks);
  const double rate = apart > 0 ? nanoseconds(before.host, after.host) / apart : nominal;
  return static_cast<double>(before.host) + nanoseconds(before.ticks, ticks) * rate;
}

void DoorbellProbe::add(const Observed& observed, const Correlation& before, const Correlation& after,
                        DoorbellSamples& samples) const {
  const Stamps& stamps = observed.stamps;
  const double kick = host_time(observed.kick, before, after);
  const double tick = 1e9 / static_cast<double>(setup_.clock_frequency);
  samples.call_to_last_store.push_back(nanoseconds(stamps.call, stamps.last_store));
  samples.fence.push_back(nanoseconds(stamps.last_store, stamps.fenced));
  samples.last_store_to_kick.push_back(kick - static_cast<double>(stamps.last_store));
  samples.first_write_to_kick.push_back(nanoseconds(observed.first_write, observed.kick) * tick);
  samples.kick_to_record.push_back(static_cast<double>(stamps.record) - kick);
  samples.post_to_completion.push_back(nanoseconds(stamps.call, stamps.completion));
  samples.last_store_to_record.push_back(nanoseconds(stamps.last_store, stamps.record));
}

} // namespace fpga_verbs::board
