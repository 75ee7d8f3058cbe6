// hardware_linked_list_queue beside the device model: random commands from a seed on all ports in every
// clock. All answers and counters are compared, in the order in which the RTL executes the accesses.
// Arguments: seed, clocks.
//
// The shape (ENTRIES and the other parameters) is passed to Verilator and, by the same names, to this file.
// The RTL selects entries and list identifiers itself; the bench checks that they are free, and maps them to
// the model's. HardwareLinkedListQueue documents where the RTL may differ from the model.
#include "Vhardware_linked_list_queue.h"
#include "bench.h"
#include "linked_list_queue_follow.h"
#include "linked_list_queue_stream.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vhardware_linked_list_queue;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    for (const bool one_list : {false, true}) {
      const Stream stream = run_stream(rtl_, one_list);
      std::printf("%u pushes and %u pops in %u clocks on end%s\n", stream.pushed, stream.popped,
                  Stream::clocks, one_list ? " on one list" : "");
    }
    start_anew(rtl_);
    for (place_.clock = 0; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 64 == 0)
        choose_weights();
      choose_commands();
      // Sometimes everything comes to rest.
      const bool rests = place_.clock % 256 >= 256 - rest_clocks;
      if (rests)
        clear_commands();
      follow_.see_inputs(rtl_, unit_);
      tick(rtl_);
      follow_.follow(rtl_, place_);
      if (place_.clock % 256 == 255)
        compare_at_rest();
    }
    follow_.report();
    std::printf("%llu clocks\n", static_cast<unsigned long long>(clocks_));
    return 0;
  }

private:
  static constexpr uint64_t rest_clocks = 24;

  struct Weights {
    uint32_t push = 0;
    uint32_t mark = 0;
    uint32_t forward = 0;
    uint32_t command = 0;
    uint32_t inject = 0;
    bool scrub = false;
  };

  // Percentages that stay for a while, so that the queue becomes full and empty.
  void choose_weights() {
    const auto weight = [&] { return std::array{0U, 10U, 50U, 90U, 100U}[random_.below(5)]; };
    weights_ = {.push = weight(),
                .mark = weight(),
                .forward = weight(),
                .command = weight() / 2,
                .inject = random_.once(4) ? 20U : 0U,
                .scrub = random_.once(2)};
  }

  void clear_commands() {
    rtl_.push = rtl_.mark_ready = rtl_.mark_not_ready = rtl_.command = rtl_.forward = rtl_.scrub = 0;
    rtl_.reclaim_ready = 0;
    rtl_.set_maximum = rtl_.set_entry_credits = rtl_.set_shared_entry_credits = 0;
  }

  // Mostly a list with data units, or that of the previous command; sometimes any list.
  uint32_t some_list() {
    if (random_.once(3))
      return last_list_;
    last_list_ = random_.below(carried(lists));
    if (random_.percent(80))
      for (uint32_t tries = 0; tries < lists; ++tries)
        if (const uint32_t list = random_.below(lists); follow_.count(list) > 0)
          return last_list_ = list;
    return last_list_;
  }
  uint32_t some_entry() {
    const uint32_t list = random_.below(lists);
    if (random_.percent(60) && follow_.count(list) > 0)
      return follow_.head(list);
    return random_.below(carried(entries));
  }

  LinkedListCommand some_command() {
    if (random_.once(8))
      return LinkedListCommand::reclaim;
    return std::array{LinkedListCommand::pop,
                      LinkedListCommand::pop,
                      LinkedListCommand::discard,
                      LinkedListCommand::discard_not_ready,
                      LinkedListCommand::peek,
                      LinkedListCommand::peek,
                      LinkedListCommand::reset_peek_pointer}[random_.below(7)];
  }

  void choose_commands() {
    clear_commands();
    rtl_.push = random_.percent(weights_.push);
    if (!random_.once(3))
      rtl_.push_index = follow_.some_index(random_);
    unit_ = {random_.bits(), random_.bits()};
    put_unit(rtl_.push_unit, unit_);
    rtl_.push_underlying_function = random_.below(functions);
    rtl_.mark_ready = random_.percent(weights_.mark);
    rtl_.mark_not_ready = !rtl_.mark_ready && random_.percent(weights_.mark / 2);
    rtl_.mark_entry = some_entry();
    rtl_.forward = random_.percent(weights_.forward);
    rtl_.command = random_.percent(weights_.command);
    rtl_.command_kind = static_cast<uint8_t>(some_command());
    rtl_.command_list = some_list();
    rtl_.reclaim_ready = !random_.once(4);
    rtl_.scrub = weights_.scrub;
    if (rtl_.inject_error == 0 && random_.percent(weights_.inject)) {
      rtl_.inject_error = 1;
      rtl_.inject_error_entry = std::min(some_entry(), entries - 1);
      rtl_.inject_error_bit = random_.below(unit_bits);
    } else if (rtl_.error_injected) {
      rtl_.inject_error = 0;
    }
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

  // Nothing is in flight: compares look-ups and counters.
  void compare_at_rest() {
    const uint32_t function = random_.below(functions);
    for (uint32_t list = 0; list < lists; ++list) {
      rtl_.query_list = list;
      rtl_.query_underlying_function = function;
      for (uint32_t clock = 0; clock < 2; ++clock) {
        if (rtl_.error_injected)
          rtl_.inject_error = 0;
        follow_.see_inputs(rtl_, unit_);
        tick(rtl_);
        follow_.follow(rtl_, place_);
      }
      expect(place_, "data unit counter", rtl_.query_count, follow_.count(list));
    }
    follow_.compare_at_rest(rtl_, function, place_);
  }

  Rtl rtl_;
  Follow follow_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  Weights weights_;
  Unit unit_;
  uint32_t last_list_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
