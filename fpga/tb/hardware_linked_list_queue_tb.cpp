// hardware_linked_list_queue in lockstep with the device model: every clock random commands from a seed on
// all ports at once, and all answers, bits and counters compared. Arguments: seed, clocks.
//
// The shape (ENTRIES and the other parameters) is given to Verilator and, by the same names, to this file.
#include "Vhardware_linked_list_queue.h"
#include "bench.h"
#include "hca/hardware_linked_list_queue.h"

#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vhardware_linked_list_queue;
using hca::LinkedListResult;

struct Unit {
  uint64_t low = 0;
  uint64_t high = 0;
};
using Model = hca::HardwareLinkedListQueue<Unit>;

constexpr uint32_t entries = ENTRIES;
constexpr uint32_t lists = LISTS;
constexpr uint32_t functions = UNDERLYING_FUNCTIONS;
constexpr bool content_addressed = CONTENT_ADDRESSED != 0;
constexpr bool ready_on_push = READY_ON_PUSH != 0;
constexpr uint32_t unit_bits = 144;
constexpr uint32_t results = 10;

enum AccessCommand : uint8_t { peek, reset_peek_pointer, reclaim };

// The numbers that a port of `end` values can carry: to the next power of two.
constexpr uint32_t carried(uint32_t end) {
  uint32_t values = 2;
  while (values < end)
    values *= 2;
  return values;
}

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    rtl_.reset = 1;
    tick();
    tick();
    rtl_.reset = 0;
    for (place_.clock = 0; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 64 == 0)
        choose_weights();
      choose_commands();
      tick();
      follow();
      compare_state();
    }
    std::printf("%llu clocks, %llu data units, %llu scrubbed; results",
                static_cast<unsigned long long>(clocks_),
                static_cast<unsigned long long>(model_.counters().pushed),
                static_cast<unsigned long long>(scrubbed_));
    for (const uint64_t count : seen_)
      std::printf(" %llu", static_cast<unsigned long long>(count));
    std::printf("\n%llu pushes and %llu pops in %u clocks on end\n",
                static_cast<unsigned long long>(streamed_.pushed),
                static_cast<unsigned long long>(streamed_.popped), stream_clocks);
#if VM_COVERAGE
    VerilatedCov::write("coverage.dat");
#endif
    return 0;
  }

  // Pushes and forwards in every clock from a queue with a few data units; how many of each were done.
  void stream() {
    rtl_.reset = 1;
    tick();
    rtl_.reset = 0;
    clear_commands();
    for (uint32_t clock = 0; clock < stream_clocks + 4; ++clock) {
      rtl_.push = 1;
      rtl_.push_index = clock % std::min(lists, 3U);
      rtl_.mark_ready = rtl_.pushed;
      rtl_.mark_ready_entry = rtl_.pushed_entry;
      rtl_.forward = clock >= 4;
      tick();
      if (clock < 4)
        continue;
      streamed_.pushed += rtl_.pushed && rtl_.pushed_result == 0;
      streamed_.popped += rtl_.popped && rtl_.popped_result == 0;
    }
    clear_commands();
  }

private:
  static constexpr uint32_t stream_clocks = 1000;

  struct Weights {
    uint32_t push = 0;
    uint32_t mark = 0;
    uint32_t forward = 0;
    uint32_t pop = 0;
    uint32_t access = 0;
    uint32_t inject = 0;
    bool scrub = false;
  };

  void tick() {
    rtl_.clock = 0;
    rtl_.eval();
    rtl_.clock = 1;
    rtl_.eval();
  }

  // Percentages that stay for a while, so that the queue runs full and empty.
  void choose_weights() {
    const auto weight = [&] { return std::array{0U, 10U, 50U, 90U, 100U}[random_.below(5)]; };
    weights_ = {.push = weight(),
                .mark = weight(),
                .forward = weight(),
                .pop = weight() / 4,
                .access = weight() / 2,
                .inject = random_.once(4) ? 20U : 0U,
                .scrub = random_.once(2)};
  }

  void clear_commands() {
    rtl_.push = rtl_.mark_ready = rtl_.mark_not_ready = rtl_.pop = rtl_.discard = rtl_.forward = rtl_.access =
        0;
    rtl_.inject_error = rtl_.scrub = 0;
    rtl_.set_maximum = rtl_.set_entry_credits = rtl_.set_shared_entry_credits = 0;
  }

  // Mostly a list with data units; heads; anything.
  uint32_t some_list() {
    if (random_.percent(80))
      for (uint32_t tries = 0; tries < lists; ++tries)
        if (const uint32_t list = random_.below(lists); model_.count(static_cast<uint16_t>(list)) > 0)
          return list;
    return random_.below(carried(lists));
  }
  uint32_t some_entry() {
    const auto list = static_cast<uint16_t>(random_.below(lists));
    if (random_.percent(60) && model_.count(list) > 0)
      return model_.head(list);
    return random_.below(carried(entries));
  }

  void choose_commands() {
    clear_commands();
    rtl_.push = random_.percent(weights_.push);
    rtl_.push_index = some_index();
    const Unit unit{random_.bits(), random_.bits()};
    for (uint32_t word = 0; word < 4; ++word)
      rtl_.push_unit[word] = static_cast<uint32_t>((word < 2 ? unit.low : unit.high) >> word % 2 * 32);
    unit_ = unit;
    rtl_.push_underlying_function = random_.below(functions);
    rtl_.mark_ready = random_.percent(weights_.mark);
    rtl_.mark_not_ready = !rtl_.mark_ready && random_.percent(weights_.mark / 2);
    rtl_.mark_ready_entry = some_entry();
    rtl_.forward = random_.percent(weights_.forward);
    rtl_.pop = random_.percent(weights_.pop);
    rtl_.discard = !rtl_.pop && random_.percent(weights_.pop / 2);
    rtl_.pop_list = some_list();
    rtl_.access = random_.percent(weights_.access);
    rtl_.access_command = random_.once(8) ? reclaim : random_.once(4) ? reset_peek_pointer : peek;
    rtl_.access_list = some_list();
    rtl_.reclaim_ready = !random_.once(4);
    rtl_.scrub = weights_.scrub;
    rtl_.inject_error = !rtl_.push && random_.percent(weights_.inject);
    rtl_.inject_error_entry = std::min(some_entry(), entries - 1);
    rtl_.inject_error_bit = random_.below(unit_bits);
    rtl_.set_maximum = random_.once(30);
    rtl_.set_maximum_list = random_.below(lists);
    rtl_.set_maximum_data_units = random_.once(3) ? random_.below(entries + 1) : entries;
    rtl_.set_entry_credits = random_.once(50);
    rtl_.set_entry_credits_underlying_function = random_.below(functions);
    rtl_.set_entry_credits_credits = random_.once(2) ? random_.below(entries + 1) : entries;
    rtl_.set_shared_entry_credits = random_.once(50);
    rtl_.set_shared_entry_credits_credits = random_.below(entries + 1);
    rtl_.set_shared_entry_credits_cap = random_.below(entries + 1);
  }

  // A few more than there are lists; some differ in high bits only.
  uint32_t some_index() {
    const uint32_t number = random_.below(lists + 2);
    return content_addressed ? number % 3 == 2 ? number << 24 | 0xffffffU : number : number;
  }

  void expect_value(const char* what, uint64_t rtl, uint64_t model) { expect(place_, what, rtl, model); }

  void expect_result(const char* what, uint8_t rtl, LinkedListResult model) {
    expect_value(what, rtl, static_cast<uint64_t>(model));
    ++seen_[rtl];
  }

  template <class Words>
  void expect_read(const char* what, uint8_t result, uint32_t entry, uint32_t index, const Words& words,
                   const Model::Read& model) {
    expect_result(what, result, model.result);
    if (model.entry == hca::no_entry)
      return;
    expect_value("entry", entry, model.entry);
    expect_value("index", index, model.index);
    expect_value("data unit, low half", uint64_t{words[1]} << 32 | words[0], model.unit.low);
    expect_value("data unit, high half", uint64_t{words[3]} << 32 | words[2], model.unit.high);
  }

  // The model does what the RTL has just done; what of it saw the state before the clock comes first.
  void follow() {
    counters_before_ = model_.counters();
    const auto access_list = static_cast<uint16_t>(rtl_.access_list);
    const auto pop_list = static_cast<uint16_t>(rtl_.pop_list);
    const bool is_reclaim = rtl_.access && rtl_.access_command == reclaim;
    const bool reclaims = !rtl_.access && rtl_.reclaim_ready && model_.reclaiming();
    const bool pops = (rtl_.pop || rtl_.discard) && !is_reclaim;

    expect_value("accessed", rtl_.accessed, rtl_.access);
    bool closes = false;
    if (is_reclaim) {
      Model probe = model_;
      const LinkedListResult result = probe.reclaim(access_list);
      closes = result == LinkedListResult::ok;
      expect_result("reclaim", rtl_.accessed_result, result);
    } else if (rtl_.access && rtl_.access_command == peek) {
      expect_read("peek", rtl_.accessed_result, rtl_.accessed_entry, rtl_.accessed_index, rtl_.accessed_unit,
                  model_.peek(access_list));
    } else if (rtl_.access) {
      expect_result("reset peek pointer", rtl_.accessed_result, model_.reset_peek_pointer(access_list));
    }
    std::optional<uint16_t> leaving;
    if (pops && !takes_head(pop_list))
      expect_result("pop", rtl_.popped_result, model_.pop(pop_list).result);
    else if (pops)
      leaving = pop_list;
    else if (rtl_.forward && !is_reclaim)
      if (const uint16_t granted = model_.arbitrate(1); granted != hca::no_list)
        leaving = granted;
    expect_value("popped", rtl_.popped, pops || leaving);

    expect_value("marked ready", rtl_.marked_ready, rtl_.mark_ready || rtl_.mark_not_ready);
    const auto marked = static_cast<uint16_t>(rtl_.mark_ready_entry);
    if (rtl_.mark_ready)
      expect_result("mark ready", rtl_.marked_ready_result, model_.mark_ready(marked));
    const LinkedListResult unmarks =
        rtl_.mark_not_ready ? Model(model_).mark_not_ready(marked) : LinkedListResult::empty;
    if (rtl_.mark_not_ready)
      expect_result("mark not ready", rtl_.marked_ready_result, unmarks);
    follow_push();
    if (leaving) {
      expect_value("granted list", rtl_.popped_list, *leaving);
      expect_read("pop", rtl_.popped_result, rtl_.popped_entry, rtl_.popped_index, rtl_.popped_unit,
                  rtl_.discard ? model_.discard(*leaving) : model_.pop(*leaving));
    }
    if (unmarks == LinkedListResult::ok)
      model_.mark_not_ready(marked);
    if (closes)
      model_.reclaim(access_list);
    expect_value("reclaimed", rtl_.reclaimed, reclaims);
    if (reclaims)
      expect_read("reclaim step", rtl_.accessed_result, rtl_.accessed_entry, rtl_.accessed_index,
                  rtl_.accessed_unit, model_.reclaim_step());
    follow_maintenance();
  }

  // Whether pop or discard takes the data unit at the head of a list.
  bool takes_head(uint16_t list) const {
    if (list >= lists)
      return false;
    return model_.lists_ready().test(list) ||
           (rtl_.discard && Model(model_).reset_peek_pointer(list) == LinkedListResult::ok);
  }

  void follow_push() {
    expect_value("pushed", rtl_.pushed, rtl_.push);
    if (!rtl_.push)
      return;
    const Model::Pushed pushed = model_.push(static_cast<uint32_t>(rtl_.push_index), unit_,
                                             static_cast<unsigned>(rtl_.push_underlying_function));
    expect_result("push", rtl_.pushed_result, pushed.result);
    if (pushed.result != LinkedListResult::ok)
      return;
    expect_value("list of the push", rtl_.pushed_list, pushed.list);
    expect_value("entry of the push", rtl_.pushed_entry, pushed.entry);
  }

  void follow_maintenance() {
    if (rtl_.scrubbed) {
      const Model::Scrubbed scrubbed = model_.scrub_step();
      expect_value("entry scrubbed", rtl_.scrubbed_entry, scrubbed.entry);
      expect_value("status scrubbed", rtl_.scrubbed_status, static_cast<uint64_t>(scrubbed.status));
      ++scrubbed_;
    }
    scrub_waited_ = rtl_.scrubbed || !rtl_.scrub ? 0 : scrub_waited_ + 1;
    if (scrub_waited_ > scrub_patience)
      differ(place_, "clocks that the scrubber waited", scrub_waited_, scrub_patience);
    if (rtl_.inject_error)
      model_.inject_error(static_cast<uint16_t>(rtl_.inject_error_entry), rtl_.inject_error_bit);
    if (rtl_.set_maximum)
      model_.set_maximum(static_cast<uint16_t>(rtl_.set_maximum_list),
                         static_cast<uint16_t>(rtl_.set_maximum_data_units));
    if (rtl_.set_entry_credits)
      model_.set_entry_credits(static_cast<unsigned>(rtl_.set_entry_credits_underlying_function),
                               static_cast<uint32_t>(rtl_.set_entry_credits_credits));
    if (rtl_.set_shared_entry_credits)
      model_.set_shared_entry_credits(static_cast<uint32_t>(rtl_.set_shared_entry_credits_credits),
                                      static_cast<uint32_t>(rtl_.set_shared_entry_credits_cap));
  }

  void compare_state() {
    const auto list = static_cast<uint16_t>(random_.below(lists));
    const uint32_t function = random_.below(functions);
    rtl_.query_list = list;
    rtl_.query_underlying_function = function;
    rtl_.find_index = some_index();
    rtl_.eval();
    expect_value("inbound credits", rtl_.inbound_credits, model_.inbound_credits());
    expect_value("reclaiming", rtl_.reclaiming, model_.reclaiming());
    expect_value("data unit counter", rtl_.query_count, model_.count(list));
    if (model_.count(list) > 0)
      expect_value("head pointer", rtl_.query_head, model_.head(list));
    expect_value("maximum", rtl_.query_maximum, model_.maximum(list));
    expect_value("list with data units", uint64_t{rtl_.occupied} >> list & 1, model_.count(list) > 0);
    const uint16_t found = model_.find(static_cast<uint32_t>(rtl_.find_index));
    expect_value("list found", rtl_.found, found != hca::no_list);
    if (rtl_.found)
      expect_value("list of an index", rtl_.found_list, found);
    expect_value("own entry credits held", rtl_.query_own_held, model_.entry_credits().own_held(function));
    expect_value("shared entry credits held", rtl_.query_shared_held,
                 model_.entry_credits().shared_held(function));
    for (uint16_t each = 0; each < lists; ++each)
      expect_value("list ready", uint64_t{rtl_.lists_ready} >> each & 1, model_.lists_ready().test(each));
    for (uint16_t entry = 0; entry < entries; ++entry)
      expect_value("data unit ready", uint64_t{rtl_.data_units_ready} >> entry & 1,
                   model_.data_unit_ready(entry));
    compare_counters();
  }

  // Counters follow a clock after the answers.
  void compare_counters() {
    const hca::LinkedListQueueCounters& model = counters_before_;
    const std::array expected{model.pushed,
                              model.popped,
                              model.reclaimed,
                              model.dropped_full,
                              model.dropped_no_entry_credit,
                              model.dropped_no_list_identifier,
                              model.dropped_list_full,
                              model.dropped_closed,
                              model.dropped_corrupted,
                              model.corrected_bit_errors,
                              model.detected_bit_errors};
    for (size_t counter = 0; counter < expected.size(); ++counter)
      if (rtl_.counters[counter] != expected[counter])
        differ(place_, ("counter " + std::to_string(counter)).c_str(), rtl_.counters[counter],
               expected[counter]);
  }

  static constexpr uint32_t scrub_patience = 1000;

  Rtl rtl_;
  Model model_{
      {.entries = entries,
       .lists = lists,
       .addressing = content_addressed ? hca::ListAddressing::content_addressed : hca::ListAddressing::direct,
       .underlying_functions = functions,
       .ready_on_push = ready_on_push}};
  Random random_;
  Place place_;
  uint64_t clocks_;
  Weights weights_;
  Unit unit_;
  hca::LinkedListQueueCounters counters_before_;
  std::array<uint64_t, results> seen_{};
  uint64_t scrubbed_ = 0;
  uint32_t scrub_waited_ = 0;
  hca::LinkedListQueueCounters streamed_;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  if (count != 3) {
    std::printf("usage: %s SEED CLOCKS\n", arguments[0]);
    return 2;
  }
  fpga_verbs::bench::Bench bench(std::strtoull(arguments[1], nullptr, 0),
                                 std::strtoull(arguments[2], nullptr, 0));
  const fpga_verbs::bench::Coverage coverage;
  bench.stream();
  return bench.run();
}
