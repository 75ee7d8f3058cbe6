#pragma once

#include "board/board.h"
#include "board/poll_pace.h"
#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::board {

// The posts of the probe, and where it sees the kick. All of the memory is mapped for the device and belongs
// to a queue pair that no other thread posts to, with nothing outstanding.
struct DoorbellSetup {
  unsigned virtual_collect_buffer_bar = 0;
  uint64_t virtual_collect_buffer_offset = 0; // of the page that the command is written to
  uint32_t virtual_collect_buffers = 1;       // pages one behind the other from there on, for rate()
  uint32_t virtual_collect_buffer_stride = 0; // bytes from page to page
  uint8_t* command = nullptr; // an encoded command in the area of work queue entries, without checksum
  uint32_t command_bytes = 0;
  uint32_t entry_offset = 0;           // of the command in its area
  uint8_t* references = nullptr;       // work queue references of the send queue
  unsigned send_queue_log2 = 0;        // log2 of their number
  uint32_t first_sequence_number = 0;  // of the next work request
  uint8_t* records = nullptr;          // ring of kick records, enabled and empty
  unsigned records_log2 = 0;           // log2 of their number
  uint8_t* records_head = nullptr;     // the host's head
  uint8_t* completions = nullptr;      // completion queue of the send queue, empty
  unsigned completions_log2 = 0;       // log2 of its entries
  uint8_t* completions_head = nullptr; // the host's head
  unsigned clock_bar = 0;              // where the device clock is read
  uint64_t clock_offset = 0;           // low half; reading it latches the high one
  uint64_t clock_frequency = 0;        // hertz
  int cpu = -1;                        // that the posting thread is pinned to; negative: none
  uint64_t timeout = 1'000'000'000;    // nanoseconds within which a record or a completion has to come
};

// Nanoseconds, an element for each post. Host times come from one clock; those with the kick in them from the
// device clock, by a correlation that is off by clock_uncertainty at most.
struct DoorbellSamples {
  std::vector<double> call_to_last_store;
  std::vector<double> fence;
  std::vector<double> last_store_to_kick;
  std::vector<double> first_write_to_kick; // device clock alone
  std::vector<double> kick_to_record;
  std::vector<double> post_to_completion;   // from the call; host clock alone
  std::vector<double> last_store_to_record; // host clock alone: the headline
};

// Why a run came to an end before all was posted.
enum class DoorbellFailure : uint8_t {
  none,
  not_pinned,     // the thread may not run on the CPU
  no_record,      // within the time that is allowed
  no_completion,  // likewise
  foreign_record, // a record or completion of a command that was not posted last
  command_failed, // it was sent, or completed, with another status than success
};

// Result of a run.
struct DoorbellRun {
  DoorbellFailure failure = DoorbellFailure::none;
  uint32_t sequence_number = 0;                                    // of the last command that was posted
  spec::CompletionStatus status = spec::CompletionStatus::success; // of the command that failed
  double nanoseconds_per_post = 0;                                 // of the whole loop
  double nanoseconds_per_store = 0; // of a run of rate(): the stores of a command and its part of the fences
  double nanoseconds_per_stamp = 0; // what taking the time costs; a stamped post does it five times
  double clock_uncertainty = 0;
  DoorbellSamples samples; // of a stamped run
};

// Measures the way of a command from the call that posts it to the record of its kick and to its completion,
// one at a time. The next is posted when the completion of the one before is there, and its records, kicked
// and sent; its slot in the send queue is free then, so that the send queue never fills, whatever its size.
// Sequence numbers go on from run to run. After a failure the queue pair and the ring are not what the probe
// takes them for: it is not run again.
class DoorbellProbe {
public:
  DoorbellProbe(BoardFunction& function, const DoorbellSetup& setup);

  // Poller of the records: looks all the time, or first when most have come.
  enum class Poller : bool { looks_all_the_time, paced };

  // Posts `count` commands, at least one. Stamped runs take the time of each; the others only that of all.
  DoorbellRun run(size_t count, bool stamped, Poller poller = Poller::paced);

  // Posts `count` commands or somewhat more: one to each virtual collect buffer, with a fence behind each
  // `commands_per_fence` of them and behind the last, and waits for their completions before the next. It reads
  // no kick records: afterwards only rate() is run.
  DoorbellRun rate(size_t count, unsigned commands_per_fence);

private:
  struct Stamps {
    uint64_t call = 0;
    uint64_t last_store = 0;
    uint64_t fenced = 0;
    uint64_t record = 0;
    uint64_t completion = 0;
  };
  // A moment in both clocks.
  struct Correlation {
    uint64_t host = 0;
    uint64_t ticks = 0;
    uint64_t uncertainty = 0;
  };
  // Times of a kick that are converted to host time when the run is over.
  struct Observed {
    Stamps stamps;
    uint64_t first_write = 0;
    uint64_t kick = 0;
  };

  void prepare(uint32_t entry = 0);
  uint8_t* entry_at(uint32_t entry) const { return setup_.command + size_t{entry} * spec::command_bytes; }
  spec::CommandHeader& command(uint32_t entry = 0) const;
  uint32_t last_sequence_number() const;              // of the command that was posted last
  bool is_last(const spec::KickRecord& record) const; // of the command that was posted last
  DoorbellFailure post_stamped(Observed& observed);
  DoorbellFailure post_unstamped();
  DoorbellFailure post_round(unsigned commands_per_fence, uint64_t& storing);
  template <typename Entry> bool wait_for(const uint8_t* ring, unsigned log2, uint32_t taken);
  bool wait_for_record();
  bool wait_for_record_of(uint64_t last_store);
  DoorbellFailure wait_for_completion_of(uint32_t sequence_number);
  DoorbellFailure wait_for_completion() { return wait_for_completion_of(last_sequence_number()); }
  DoorbellFailure wait_until_sent();
  Correlation correlate();
  double host_time(uint64_t ticks, const Correlation& before, const Correlation& after) const;
  void add(const Observed& observed, const Correlation& before, const Correlation& after,
           DoorbellSamples& samples) const;

  BoardFunction& function_;
  DoorbellSetup setup_;
  bool polling_advances_;
  uint32_t sequence_number_; // of the next command
  uint32_t records_taken_ = 0;
  uint32_t completions_taken_ = 0;
  PollPace record_pace_;
  Poller poller_ = Poller::paced;
  spec::CompletionStatus status_ = spec::CompletionStatus::success; // of the command that was sent last
};

} // namespace fpga_verbs::board
