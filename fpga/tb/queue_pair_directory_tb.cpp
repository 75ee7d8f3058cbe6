// queue_pair_directory beside queue_pair_state_cache of the device model: queue pairs are created, pinned,
// quiesced, resumed and destroyed at random, also by numbers of former ones. Each access takes effect in a
// known clock, and the model executes the accesses in that order. Arguments: seed, clocks.
//
// First pins and unpins one queue pair without pauses, and prints the clocks that this takes.
#include "Vqueue_pair_directory.h"
#include "bench.h"
#include "context_host.h"

#include "hca/base/counters.h"
#include "hca/base/parameters.h"
#include "hca/memory/context_memory.h"
#include "hca/queue_pair/queue_pair_state_cache.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <map>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vqueue_pair_directory;

constexpr uint32_t queue_pairs = QUEUE_PAIRS;
constexpr uint32_t functions = 8;
constexpr uint64_t context_bytes = (1 << 20) + uint64_t{queue_pairs} * 1024;
constexpr uint32_t clocks_to_done = 4; // from the entry of an access to its answer

enum class Command : uint8_t { look, create, quiesce, resume, destroy };

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
    std::printf("%llu pins in %llu clocks, %llu refused, %llu commands, %llu not done, %llu became quiet\n",
                number(pins_), number(clocks_), number(refused_), number(commands_), number(not_done_),
                number(quiet_));
    return 0;
  }

private:
  struct Asked {
    Command command = Command::look;
    uint32_t number = 0;
    unsigned underlying_function = 0;
    bool is_wrong = false; // an index in use, or a nonexistent one
  };

  static unsigned long long number(uint64_t value) { return value; }

  void choose_weights() {
    pin_ = std::array{0U, 20U, 60U, 100U}[random_.below(4)];
    unpin_ = std::array{5U, 50U, 100U}[random_.below(3)];
    control_ = std::array{0U, 10U, 60U}[random_.below(3)];
  }

  void start_anew() {
    if (context_memory_.bytes_needed() > context_bytes || !context_memory_.open(0, context_bytes))
      differ(place_, "bytes of context memory", context_bytes, context_memory_.bytes_needed());
    rtl_.reset = 1;
    rtl_.pin = rtl_.unpin = rtl_.control = 0;
    step();
    step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < queue_pairs + 4; ++clock)
      step();
    expect(place_, "clearing", rtl_.clearing, 0);
  }

  // An existing queue pair, mostly one of few, so that accesses meet; a former one, or one with a nonexistent
  // index.
  uint32_t some_number() {
    if (random_.once(32))
      return beyond(live_[random_.below(static_cast<uint32_t>(live_.size()))]);
    if (!former_.empty() && random_.once(8))
      return former_[random_.below(static_cast<uint32_t>(former_.size()))];
    const auto live = static_cast<uint32_t>(live_.size());
    return live_[random_.once(4) ? random_.below(live) : random_.below(std::min(live, 3U))];
  }

  static uint32_t beyond(uint32_t number) { return queue_pairs < 65536 ? number | queue_pairs : number; }

  void begin_clock() {
    rtl_.unpin = !held_.empty() && random_.percent(unpin_);
    if (rtl_.unpin) {
      const uint32_t index = random_.below(static_cast<uint32_t>(held_.size()));
      rtl_.unpin_number = held_[index];
      held_.erase(held_.begin() + index);
    }
    if (!rtl_.unpin && !former_.empty() && random_.once(16)) {
      rtl_.unpin = 1;
      rtl_.unpin_number = former_.back();
    }
    if (!rtl_.pin && !live_.empty() && random_.percent(pin_)) {
      rtl_.pin = 1;
      rtl_.pin_number = some_number();
    }
    if (!rtl_.control && random_.percent(control_))
      offer_control();
  }

  void offer_control() {
    Asked asked;
    if (live_.empty() || random_.once(4)) {
      if (model_.queue_pairs_free() == 0)
        return;
      // The model chooses the number; nothing else uses it before the queue pair exists.
      asked.command = Command::create;
      asked.underlying_function = random_.below(functions);
      asked.is_wrong = !live_.empty() && asked_.empty() && random_.once(2);
      if (asked.is_wrong)
        asked.number = random_.once(2) ? live_.front() : beyond(live_.back());
      else
        asked.number = *model_.create(asked.underlying_function, spec::QueuePairControl{});
    } else {
      asked.command = std::array{Command::look, Command::quiesce, Command::quiesce, Command::resume,
                                 Command::destroy}[random_.below(5)];
      asked.number = some_number();
      asked.underlying_function = random_.below(functions);
    }
    rtl_.control = 1;
    rtl_.control_create = asked.command == Command::create;
    rtl_.control_quiesce = asked.command == Command::quiesce;
    rtl_.control_resume = asked.command == Command::resume;
    rtl_.control_destroy = asked.command == Command::destroy;
    rtl_.control_number = asked.number;
    rtl_.control_underlying_function = asked.underlying_function;
    offered_ = asked;
  }

  void step() {
    rtl_.clock = 0;
    rtl_.eval();
    if (!rtl_.reset)
      compare();
    const bool pins = rtl_.pin && rtl_.pin_ready;
    const bool controls = rtl_.control && rtl_.control_ready;
    unpins_.push_back(rtl_.unpin ? rtl_.unpin_number : none);
    if (pins)
      asked_pins_.push_back(rtl_.pin_number);
    if (controls)
      asked_.push_back(offered_);
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
    if (pins)
      rtl_.pin = 0;
    if (controls)
      rtl_.control = 0;
  }

  // The access that takes effect now, at most one.
  void compare() {
    uint32_t unpinned = none;
    if (unpins_.size() >= clocks_to_done) {
      unpinned = unpins_.front();
      unpins_.pop_front();
    }
    expect(place_, "accesses at once", (unpinned != none) + rtl_.pinned + rtl_.controlled > 1, 0);
    if (unpinned != none)
      model_.unpin(unpinned);
    if (rtl_.pinned)
      compare_pin();
    if (rtl_.controlled)
      compare_control();
    const auto quiet = model_.take_quiet();
    expect(place_, "became quiet", rtl_.quiet, quiet.has_value());
    if (!quiet)
      return;
    expect(place_, "number of the quiet", rtl_.quiet_number, quiet->queue_pair_number);
    ++quiet_;
  }

  void compare_pin() {
    if (asked_pins_.empty())
      differ(place_, "pins that were answered", 1, 0);
    const uint32_t pinned = asked_pins_.front();
    asked_pins_.pop_front();
    ++pins_;
    const bool done = model_.pin(pinned);
    expect(place_, "pinned", rtl_.pinned_done, done);
    refused_ += !done;
    if (!done)
      return;
    held_.push_back(pinned);
    expect(place_, "function of a pinned one", rtl_.pinned_underlying_function, owner_.at(pinned));
  }

  void compare_control() {
    if (asked_.empty())
      differ(place_, "commands that were answered", 1, 0);
    const Asked asked = asked_.front();
    asked_.pop_front();
    ++commands_;
    const bool is_there = model_.find_any(asked.number).queue_pair != nullptr;
    const uint32_t pins = model_.pins(asked.number);
    const bool done = is_there && !asked.is_wrong && (asked.command != Command::destroy || pins == 0);
    not_done_ += !done;
    expect(place_, "command done", rtl_.controlled_done, done);
    if (asked.command == Command::create && !asked.is_wrong) {
      live_.push_back(asked.number);
      owner_[asked.number] = asked.underlying_function;
    }
    if (is_there) {
      expect(place_, "pins", rtl_.controlled_pins, pins);
      expect(place_, "function", rtl_.controlled_underlying_function, owner_.at(asked.number));
    }
    if (!done)
      return;
    switch (asked.command) {
    case Command::quiesce:
      // A second quiesce is no new event for the model while the first one is in its list, which is emptied
      // at once.
      model_.quiesce(asked.number);
      is_quiescing_[asked.number] = true;
      break;
    case Command::resume:
      model_.resume(asked.number);
      is_quiescing_[asked.number] = false;
      break;
    case Command::destroy:
      model_.destroy(asked.number);
      std::erase(live_, asked.number);
      is_quiescing_.erase(asked.number);
      former_.push_back(asked.number);
      if (former_.size() > 16)
        former_.pop_front();
      return;
    default:
      break;
    }
    expect(place_, "waits to be quiet", rtl_.controlled_quiescing, is_quiescing_[asked.number]);
  }

  // Pins and unpins one queue pair, one access per clock.
  void stream() {
    constexpr uint32_t count = 1000;
    choose_weights();
    control_ = 100;
    while (live_.empty()) {
      if (!rtl_.control)
        offer_control();
      step();
    }
    const uint64_t before = pins_;
    uint32_t clocks = 0;
    for (; pins_ - before < count || !held_.empty(); ++clocks) {
      rtl_.unpin = !held_.empty();
      if (rtl_.unpin) {
        rtl_.unpin_number = held_.back();
        held_.pop_back();
      }
      if (!rtl_.pin && pins_ - before + asked_pins_.size() < count) {
        rtl_.pin = 1;
        rtl_.pin_number = live_.front();
      }
      step();
      if (clocks > 100 * count)
        differ(place_, "pins on end", pins_ - before, count);
    }
    rtl_.unpin = 0;
    std::printf("%u pins and as many unpins in %u clocks\n", count, clocks);
  }

  static constexpr uint32_t none = ~0U;

  static hca::HcaParameters parameters() {
    hca::HcaParameters parameters;
    parameters.queue_pairs = queue_pairs;
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
  uint32_t pin_ = 100;
  uint32_t unpin_ = 100;
  uint32_t control_ = 100;
  Asked offered_;
  std::deque<uint32_t> unpins_; // of the clocks before; empty where there was none
  std::deque<uint32_t> asked_pins_;
  std::deque<Asked> asked_;
  std::vector<uint32_t> held_; // pinned numbers, once for each pin
  std::vector<uint32_t> live_;
  std::deque<uint32_t> former_;
  std::map<uint32_t, unsigned> owner_;
  std::map<uint32_t, bool> is_quiescing_;
  uint64_t pins_ = 0;
  uint64_t refused_ = 0;
  uint64_t commands_ = 0;
  uint64_t not_done_ = 0;
  uint64_t quiet_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
