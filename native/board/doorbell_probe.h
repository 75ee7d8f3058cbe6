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

// Parameters of a doorbell probe: the commands that it posts, and where it detects the kick. All memory is
// mapped for the device and belongs to a queue pair that no other thread posts to, with no work request
// outstanding.
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

// Samples in nanoseconds, one for each post. Host times come from one clock. Times that include the kick come
// from the device clock, through a correlation with an error of at most clock_uncertainty.
struct DoorbellSamples {
  std::vector<double> call_to_last_store;
  std::vector<double> fence;
  std::vector<double> last_store_to_kick;
  std::vector<double> first_write_to_kick; // device clock alone
  std::vector<double> kick_to_record;
  std::vector<double> post_to_completion;   // from the call; host clock alone
  std::vector<double> last_store_to_record; // host clock alone: the headline
};

// The reason why a run stopped early.
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

// Measures the path of a command from the post call to the record of its kick and to its completion, one
// command at a time. It posts the next command when the completion and both kick records of the previous one
// have arrived; the send queue slot is then free, so a queue of any size never fills. Sequence numbers
// continue from run to run. After a failure the state of queue pair and ring is unknown, so the probe is not
// run again.
class DoorbellProbe {
public:
  DoorbellProbe(BoardFunction& function, const DoorbellSetup& setup);

  // Poller of the kick records: looks all the time, or first when most of them must have arrived.
  enum class Poller : bool { looks_all_the_time, paced };

  // Posts `count` commands, at least one. A stamped run times each post; otherwise only the whole run is
  // timed.
  DoorbellRun run(size_t count, bool stamped, Poller poller = Poller::paced);

  // Posts `count` commands or somewhat more: one to each virtual collect buffer, with a fence behind each
  // `commands_per_fence` of them and behind the last; waits for their completions before the next round.
  // Reads no kick records: only rate() works afterwards.
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
  // Times of a kick, converted to host time after the run.
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
