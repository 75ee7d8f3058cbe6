// queue_pair_contexts beside queue_pair_state_cache of the device model: queue pairs are created and
// destroyed, each writer writes its fields, failures change states, and the control port writes and reads
// rows, all at random. Readers must find the model's contexts, and nothing by the numbers of former queue
// pairs. The model executes a write when it can first be read. Arguments: seed, clocks.
//
// First reads and writes one queue pair without pauses, and prints the clocks that this takes.
#include "Vqueue_pair_contexts.h"
#include "bench.h"
#include "context_host.h"

#include "hca/base/counters.h"
#include "hca/base/parameters.h"
#include "hca/memory/context_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vqueue_pair_contexts;
// The parts of a context, with the fields of both queue pair and connection, because writers write both.
struct Parts {
  spec::QueuePairControl control;
  spec::QueuePairRequester requester;
  spec::QueuePairCompletion completion;
  spec::QueuePairResponder responder;
};

constexpr uint32_t contexts = CONTEXTS;
constexpr uint32_t readers = READERS;
constexpr uint32_t functions = 8;
constexpr uint32_t rows = 7; // of a context; the eighth is spare
constexpr uint32_t row_bytes = 64;
constexpr uint64_t context_bytes = (1 << 20) + uint64_t{contexts} * 1024;
constexpr uint32_t clocks_to_answer = 3; // from the last clock whose writes a read finds to its answer

using Row = std::array<uint8_t, row_bytes>;

// The fields of each writer.
void set_fetch(Parts& to, const spec::QueuePairRequester& from) {
  const uint32_t built_psn = static_cast<uint32_t>(to.requester.built_psn());
  to.requester = from;
  to.requester.set_built_psn(built_psn);
}
void set_builder(Parts& to, const spec::QueuePairRequester& from) {
  to.requester.set_built_psn(from.built_psn());
}
void set_response(Parts& to, const spec::QueuePairResponder& from) {
  to.responder.set_advertised_limit(from.advertised_limit());
  to.responder.set_answers_ended(from.answers_ended());
  to.responder.set_read_atomic_head(from.read_atomic_head());
  to.responder.set_repeated_reads_answered(from.repeated_reads_answered());
}
void set_validation(Parts& to, const spec::QueuePairResponder& from) {
  to.responder.set_message_refused(from.message_refused());
  to.responder.set_completed(from.completed());
  to.responder.set_receive_open(from.receive_open());
  to.responder.set_last_entry_reached(from.last_entry_reached());
}
void set_descriptor(Parts& to, const spec::QueuePairResponder& from) {
  to.responder.set_receive_head(from.receive_head());
  to.responder.set_receive_tail(from.receive_tail());
  to.responder.set_receive_entry_offset(from.receive_entry_offset());
  to.responder.set_receive_entry_length(from.receive_entry_length());
  to.responder.set_receive_prefetched(from.receive_prefetched());
  to.responder.set_receive_entry_number(from.receive_entry_number());
}
void set_receive(Parts& to, const spec::QueuePairResponder& from) {
  const Parts before = to;
  to.responder = from;
  set_response(to, before.responder);
  set_validation(to, before.responder);
  set_descriptor(to, before.responder);
}

// Clears the bits without a field.
template <class Part> void clear_reserved(Part& part) {
  static const Part fields = [] {
    Part found{};
    for (size_t word = 0; word < std::size(found.dwords); ++word)
      for (uint32_t bit = 0; bit < 32; ++bit) {
        Part one{};
        one.dwords[word] = uint32_t{1} << bit;
        if (one.reserved_is_zero())
          found.dwords[word] |= uint32_t{1} << bit;
      }
    return found;
  }();
  for (size_t word = 0; word < std::size(part.dwords); ++word)
    part.dwords[word] &= fields.dwords[word];
}

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    start_anew();
    stream();
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 64 == 0)
        choose_weights();
      begin_clock();
      step();
    }
    reset_with_contexts();
    std::printf(
        "%llu reads in %llu clocks, %llu of no queue pair, %llu writes, %llu rows written, %llu read, "
        "%llu failures, %llu without effect, %llu queue pairs destroyed\n",
        number(reads_), number(clocks_), number(absent_), number(writes_), number(rows_written_),
        number(rows_read_), number(failures_), number(without_effect_), number(destroyed_));
    return 0;
  }

private:
  // An action of the model, and its clock.
  struct Due {
    uint64_t clock = 0;
    std::function<void()> act;
  };
  struct RowToWrite {
    uint32_t number = 0;
    uint32_t row = 0;
    Row data{};
    bool creates = false;  // the last row of a new queue pair
    bool destroys = false; // ends the queue pair
    bool is_new = false;   // of a queue pair that does not exist yet
  };
  struct Failure {
    uint32_t number = 0;
    unsigned underlying_function = 0;
    bool enters_error = false;
    bool enters_send_queue_error = false;
    bool flushes = false;
  };

  static unsigned long long number(uint64_t value) { return value; }
  static uint32_t index_of(uint32_t queue_pair) {
    return queue_pair & ((1U << spec::queue_pair_index_bits) - 1);
  }

  void choose_weights() {
    read_ = std::array{10U, 40U, 100U}[random_.below(3)];
    write_ = std::array{0U, 10U, 60U, 100U}[random_.below(4)];
    row_ = std::array{2U, 20U, 100U}[random_.below(3)];
    fail_ = std::array{0U, 10U, 100U}[random_.below(3)];
  }

  void start_anew() {
    if (context_memory_.bytes_needed() > context_bytes || !context_memory_.open(0, context_bytes))
      differ(place_, "bytes of context memory", context_bytes, context_memory_.bytes_needed());
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < contexts + 4; ++clock)
      step();
    expect(place_, "clearing", rtl_.clearing, 0);
  }

  // Mostly one of few, so that accesses meet.
  uint32_t some_live() {
    const auto live = static_cast<uint32_t>(live_.size());
    return live_[random_.once(4) ? random_.below(live) : random_.below(std::min(live, 3U))];
  }
  // The number of an existing or former queue pair, or one with a nonexistent index.
  uint32_t some_number() {
    if (live_.empty() || (!former_.empty() && random_.once(8)))
      return former_.empty() ? 0 : former_[random_.below(static_cast<uint32_t>(former_.size()))];
    return random_.once(32) ? some_live() | contexts : some_live();
  }

  template <class Part> Part some_part() {
    Part part{};
    for (uint32_t& word : part.dwords)
      word = static_cast<uint32_t>(random_.bits());
    return part;
  }

  // A block writes its fields, mostly with bits of other writers set too.
  template <class Part, class Write, class Number, class Port>
  void maybe_write(Write& write, Number& of, Port& port, void (*set)(Parts&, const Part&)) {
    write = !live_.empty() && random_.percent(write_);
    const Part part = some_part<Part>();
    of = live_.empty() ? 0 : some_live();
    std::memcpy(&port, &part, sizeof part);
    if (write == 0)
      return;
    ++writes_;
    act_later(now_, [this, written = uint32_t{of}, part, set] {
      change(written, [&](Parts& parts) { set(parts, part); });
    });
  }

  void begin_clock() {
    maybe_write<spec::QueuePairRequester>(rtl_.fetch_write, rtl_.fetch_number, rtl_.fetch_requester,
                                          set_fetch);
    maybe_write<spec::QueuePairRequester>(rtl_.builder_write, rtl_.builder_number, rtl_.builder_requester,
                                          set_builder);
    maybe_write<spec::QueuePairCompletion>(
        rtl_.completion_write, rtl_.completion_number, rtl_.completion_completion,
        [](Parts& to, const spec::QueuePairCompletion& from) { to.completion = from; });
    maybe_write<spec::QueuePairResponder>(rtl_.receive_write, rtl_.receive_number, rtl_.receive_responder,
                                          set_receive);
    maybe_write<spec::QueuePairResponder>(rtl_.response_write, rtl_.response_number, rtl_.response_responder,
                                          set_response);
    maybe_write<spec::QueuePairResponder>(rtl_.validation_write, rtl_.validation_number,
                                          rtl_.validation_responder, set_validation);
    maybe_write<spec::QueuePairResponder>(rtl_.descriptor_write, rtl_.descriptor_number,
                                          rtl_.descriptor_responder, set_descriptor);
    for (uint32_t reader = 0; reader < readers; ++reader)
      if ((rtl_.read >> reader & 1) == 0 && random_.percent(read_))
        offer_read(reader, some_number());
    if (!rtl_.fail && !live_.empty() && random_.percent(fail_))
      offer_failure();
    if (!rtl_.row_write && random_.percent(row_))
      offer_row();
    if (!rtl_.row_read && random_.percent(row_)) {
      rtl_.row_read = 1;
      rtl_.row_read_context = random_.below(contexts);
      rtl_.row_read_row = random_.below(rows + 1);
    }
  }

  void offer_read(uint32_t reader, uint32_t of) {
    rtl_.read |= 1U << reader;
    for (uint32_t bit = 0; bit < 24; ++bit) {
      const uint32_t at = reader * 24 + bit;
      uint32_t& word = reinterpret_cast<uint32_t*>(&rtl_.read_number)[at / 32];
      word = (word & ~(1U << at % 32)) | (of >> bit & 1) << at % 32;
    }
    offered_reads_[reader] = of;
  }

  void offer_failure() {
    Failure failure{.number = some_number(), .underlying_function = random_.below(functions)};
    if (const auto found = model_.find_any(failure.number); found && !random_.once(4))
      failure.underlying_function = static_cast<unsigned>(found->control.underlying_function());
    failure.enters_error = random_.once(3);
    failure.enters_send_queue_error = !failure.enters_error && random_.once(2);
    failure.flushes = random_.once(2);
    rtl_.fail = 1;
    rtl_.fail_number = failure.number;
    rtl_.fail_underlying_function = failure.underlying_function;
    rtl_.fail_enters_error = failure.enters_error;
    rtl_.fail_enters_send_queue_error = failure.enters_send_queue_error;
    rtl_.fail_flushes = failure.flushes;
    failure_ = failure;
  }

  // The control port writes rows: a new queue pair row by row, the first row, which makes it valid, last. To
  // end a queue pair it clears that row, and no writer writes the queue pair any more. Any other row may
  // change, except the fields that its number follows from.
  void offer_row() {
    if (coming_.empty()) {
      if ((live_.size() < 2 || random_.once(16)) && model_.queue_pairs_free() != 0)
        create();
      else if (live_.size() > 1 && !is_going_ && random_.once(32))
        destroy();
      else if (!live_.empty())
        change();
    }
    if (coming_.empty())
      return;
    const RowToWrite& next = coming_.front();
    rtl_.row_write = 1;
    rtl_.row_write_context = index_of(next.number);
    rtl_.row_write_row = next.row;
    std::memcpy(&rtl_.row_write_data, next.data.data(), row_bytes);
  }

  static Row row_of(const Parts& parts, uint32_t row) {
    Row data;
    std::memcpy(data.data(), reinterpret_cast<const uint8_t*>(&parts) + row * row_bytes, row_bytes);
    return data;
  }

  void create() {
    const unsigned owner = random_.below(functions);
    const auto created = model_.create(owner, some_part<spec::QueuePairControl>());
    if (!created)
      return;
    change(*created, [](Parts&) {});
    owner_[*created] = owner;
    for (uint32_t row = rows; row-- != 0;)
      coming_.push_back({.number = *created,
                         .row = row,
                         .data = row_of(parts_of(*created), row),
                         .creates = row == 0,
                         .is_new = true});
  }

  void destroy() {
    const uint32_t index = random_.below(static_cast<uint32_t>(live_.size()));
    const uint32_t destroyed = live_[index];
    live_.erase(live_.begin() + index);
    former_.push_back(destroyed);
    if (former_.size() > 16)
      former_.pop_front();
    is_going_ = true;
    coming_.push_back({.number = destroyed, .row = 0, .data = {}, .destroys = true});
    ++destroyed_;
  }

  void change() {
    RowToWrite change{.number = some_live(), .row = random_.below(rows)};
    for (uint8_t& byte : change.data)
      byte = static_cast<uint8_t>(random_.bits());
    if (change.row == 0) {
      // Valid bit, owner and generation stay.
      spec::QueuePairControl control{};
      std::memcpy(&control, change.data.data(), row_bytes);
      control.set_valid(1);
      control.set_underlying_function(owner_.at(change.number));
      control.set_generation(change.number >> spec::queue_pair_index_bits);
      std::memcpy(change.data.data(), &control, row_bytes);
    }
    coming_.push_back(change);
  }

  void act_later(uint64_t clock, std::function<void()> act) {
    due_.push_back({.clock = clock + clocks_to_answer, .act = std::move(act)});
  }
  void act_due() {
    std::ranges::stable_sort(due_, {}, &Due::clock);
    while (!due_.empty() && due_.front().clock < now_) {
      const Due due = std::move(due_.front());
      due_.pop_front();
      due.act();
    }
  }

  hca::QueuePairParts& model_parts(uint32_t queue_pair) {
    const auto found = model_.find_any(queue_pair);
    if (!found)
      differ(place_, "a queue pair of the model's", 0, queue_pair);
    return *model_.parts(static_cast<unsigned>(found->control.underlying_function()), queue_pair);
  }
  Parts parts_of(uint32_t queue_pair) { return std::bit_cast<Parts>(model_parts(queue_pair)); }

  // Changes the model's context; bits without a field become zero.
  template <class Act> void change(uint32_t queue_pair, Act act) {
    hca::QueuePairParts& own = model_parts(queue_pair);
    Parts parts = std::bit_cast<Parts>(own);
    act(parts);
    clear_reserved(parts.control);
    clear_reserved(parts.requester);
    clear_reserved(parts.completion);
    clear_reserved(parts.responder);
    own = std::bit_cast<hca::QueuePairParts>(parts);
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    if (!rtl_.reset)
      compare();
    const uint32_t reads = rtl_.read & rtl_.read_ready;
    for (uint32_t reader = 0; reader < readers; ++reader)
      if ((reads >> reader & 1) != 0)
        asked_[reader].push_back(offered_reads_[reader]);
    const bool fails = rtl_.fail && rtl_.fail_ready;
    if (fails)
      failing_.push_back(failure_);
    const bool writes_row = rtl_.row_write && rtl_.row_write_ready;
    if (writes_row) {
      entering_.push_back(coming_.front());
      coming_.pop_front();
    }
    const bool reads_row = rtl_.row_read && rtl_.row_read_ready;
    if (reads_row)
      asked_rows_.push_back({rtl_.row_read_context, rtl_.row_read_row});
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
    rtl_.read &= ~reads;
    if (fails)
      rtl_.fail = 0;
    if (writes_row)
      rtl_.row_write = 0;
    if (reads_row)
      rtl_.row_read = 0;
  }

  void compare() {
    // Rows take effect in the clock before row_written.
    if (rtl_.row_written)
      note_row();
    if (rtl_.row_answer)
      compare_row();
    act_due();
    if (rtl_.failed)
      compare_failure();
    expect(place_, "answers at once", std::popcount(static_cast<unsigned>(rtl_.answer)) > 1, 0);
    for (uint32_t reader = 0; reader < readers; ++reader)
      if ((rtl_.answer >> reader & 1) != 0)
        compare_answer(reader);
  }

  void note_row() {
    if (entering_.empty())
      differ(place_, "rows that were written", 1, 0);
    const RowToWrite row = entering_.front();
    entering_.pop_front();
    ++rows_written_;
    act_later(now_ - 1, [this, row] {
      if (row.destroys) {
        is_going_ = false;
        model_.destroy(row.number);
        at_[index_of(row.number)] = 0;
      } else if (row.is_new) {
        if (row.creates)
          at_[index_of(row.number)] = row.number;
      } else {
        change(row.number, [&row](Parts& parts) {
          std::memcpy(reinterpret_cast<uint8_t*>(&parts) + row.row * row_bytes, row.data.data(), row_bytes);
        });
      }
    });
    // Others may use the queue pair from here on: their accesses enter later.
    if (row.creates)
      live_.push_back(row.number);
  }

  void compare_answer(uint32_t reader) {
    if (asked_[reader].empty())
      differ(place_, "reads that were answered", 1, 0);
    const uint32_t asked = asked_[reader].front();
    asked_[reader].pop_front();
    ++reads_;
    const auto found = model_.find_any(asked);
    expect(place_, "found", rtl_.answer_found, static_cast<bool>(found));
    absent_ += !found;
    if (!found)
      return;
    const auto same = [&](const char* what, const auto& port, const auto& part) {
      const auto* words = reinterpret_cast<const uint32_t*>(&port);
      for (size_t word = 0; word < std::size(part.dwords); ++word)
        if (words[word] != part.dwords[word])
          differ(place_, what, uint64_t{word} << 32 | words[word], uint64_t{word} << 32 | part.dwords[word]);
    };
    const Parts parts = parts_of(asked);
    same("control", rtl_.answer_control, parts.control);
    same("requester", rtl_.answer_requester, parts.requester);
    same("completion", rtl_.answer_completion, parts.completion);
    same("responder", rtl_.answer_responder, parts.responder);
  }

  void compare_failure() {
    if (failing_.empty())
      differ(place_, "failures that were answered", 1, 0);
    const Failure failure = failing_.front();
    failing_.pop_front();
    ++failures_;
    without_effect_ += !rtl_.failed_done;
    act_later(now_, [this, failure, done = rtl_.failed_done] {
      bool does = false;
      if (failure.enters_error)
        does = model_.enter_error(failure.underlying_function, failure.number);
      else if (failure.enters_send_queue_error)
        does = model_.enter_send_queue_error(failure.underlying_function, failure.number);
      else {
        does = static_cast<bool>(model_.find(failure.underlying_function, failure.number));
        model_.set_send_error(failure.underlying_function, failure.number, failure.flushes);
      }
      expect(place_, "failure took effect", done, does);
    });
  }

  // A row of an existing queue pair; otherwise only its first row is compared. It arrives a clock later than
  // a context would.
  void compare_row() {
    if (asked_rows_.empty())
      differ(place_, "rows that were read", 1, 0);
    const auto [context, row] = asked_rows_.front();
    asked_rows_.pop_front();
    ++rows_read_;
    Row data;
    std::memcpy(data.data(), &rtl_.row_answer_data, row_bytes);
    const uint32_t queue_pair = at_[context];
    if (queue_pair == 0 && row != 0 && row != rows)
      return;
    const Row expected = queue_pair == 0 || row == rows ? Row{} : row_of(parts_of(queue_pair), row);
    for (uint32_t byte = 0; byte < row_bytes; ++byte)
      if (data[byte] != expected[byte])
        differ(place_, "byte of a row", row << 16 | byte << 8 | data[byte],
               row << 16 | byte << 8 | expected[byte]);
  }

  // After a reset no former number finds a context.
  void reset_with_contexts() {
    rtl_.fetch_write = rtl_.builder_write = rtl_.completion_write = rtl_.receive_write = 0;
    rtl_.response_write = rtl_.validation_write = rtl_.descriptor_write = 0;
    rtl_.read = rtl_.fail = rtl_.row_write = rtl_.row_read = 0;
    for (uint32_t clock = 0; clock < 32 * readers; ++clock)
      step();
    rtl_.reset = 1;
    step();
    rtl_.reset = 0;
    model_.reset();
    for (uint32_t clock = 0; clock < contexts + 4; ++clock)
      step();
    const uint64_t before = reads_;
    uint64_t asked = 0;
    for (const uint32_t queue_pair : at_)
      if (queue_pair != 0) {
        offer_read(0, queue_pair);
        while ((rtl_.read & 1) != 0)
          step();
        ++asked;
      }
    for (uint32_t clock = 0; clock < 32; ++clock)
      step();
    expect(place_, "reads after a reset", reads_ - before, asked);
  }

  // Two blocks read one queue pair in turn, and another writes it in each clock.
  void stream() {
    constexpr uint32_t count = 1000;
    read_ = write_ = fail_ = 0;
    while (live_.empty()) {
      if (!rtl_.row_write)
        offer_row();
      step();
    }
    const uint64_t before = reads_;
    const uint64_t begin = now_;
    uint64_t first = 0;
    write_ = 100;
    for (uint32_t offered = 0; reads_ - before < count;) {
      maybe_write<spec::QueuePairRequester>(rtl_.fetch_write, rtl_.fetch_number, rtl_.fetch_requester,
                                            set_fetch);
      for (uint32_t reader = 0; reader < 2; ++reader)
        if ((rtl_.read >> reader & 1) == 0 && offered < count) {
          offer_read(reader, live_.front());
          ++offered;
        }
      step();
      if (first == 0 && reads_ != before)
        first = now_ - 1 - begin;
      if (now_ - begin > 100 * count)
        differ(place_, "reads on end", reads_ - before, count);
    }
    rtl_.fetch_write = 0;
    std::printf("%u reads in %llu clocks, the first after %llu\n", count, number(now_ - begin),
                number(first));
  }

  static hca::HcaParameters parameters() {
    hca::HcaParameters parameters;
    parameters.queue_pairs = contexts;
    parameters.page_table_entries = 1024;
    parameters.memory_keys = 16;
    return parameters;
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  uint64_t now_ = 0;
  hca::HcaParameters parameters_ = parameters();
  hca::Counters counters_;
  ContextHost host_{context_bytes};
  NoEvents events_;
  hca::ContextMemory context_memory_{parameters_, counters_, host_, events_};
  hca::QueuePairStateCache model_{parameters_, counters_, context_memory_};
  uint32_t read_ = 0;
  uint32_t write_ = 0;
  uint32_t row_ = 0;
  uint32_t fail_ = 0;
  std::array<uint32_t, readers> offered_reads_{};
  std::array<std::deque<uint32_t>, readers> asked_;
  Failure failure_;
  std::deque<Failure> failing_;
  std::deque<RowToWrite> coming_;
  std::deque<RowToWrite> entering_;
  std::deque<std::pair<uint32_t, uint32_t>> asked_rows_; // context and row
  std::deque<Due> due_;
  std::vector<uint32_t> live_;
  std::deque<uint32_t> former_;
  bool is_going_ = false;
  std::array<uint32_t, contexts> at_{}; // the queue pair at an index; 0: none
  std::map<uint32_t, unsigned> owner_;
  uint64_t reads_ = 0;
  uint64_t absent_ = 0;
  uint64_t writes_ = 0;
  uint64_t rows_written_ = 0;
  uint64_t rows_read_ = 0;
  uint64_t failures_ = 0;
  uint64_t without_effect_ = 0;
  uint64_t destroyed_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
