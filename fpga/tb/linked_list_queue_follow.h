#pragma once

#include "bench.h"
#include "hca/lists/hardware_linked_list_queue.h"
#include "linked_list_queue_stream.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <vector>

// The device model of a linked list queue executes the accesses of the RTL, in the same order, and is
// compared with it.
namespace fpga_verbs::bench {

class Follow {
public:
  using Model = hca::HardwareLinkedListQueue<Unit>;
  using Result = hca::LinkedListResult;

  Follow() {
    maximum_.fill(entries);
    index_of_.fill(0);
    held_.fill(std::nullopt);
  }

  // Records the inputs of a clock.
  template <class Rtl> void see_inputs(const Rtl& rtl, const Unit& unit) {
    if (rtl.push)
      pushes_.push_back(
          {static_cast<uint32_t>(rtl.push_index), unit, static_cast<uint32_t>(rtl.push_underlying_function)});
    if (rtl.mark_ready || rtl.mark_not_ready)
      marks_.push_back({static_cast<uint32_t>(rtl.mark_entry), rtl.mark_ready != 0});
    if (rtl.command && rtl.command_ready)
      ++commands_;
    Clock& clock = clocks_[now_ % depth];
    clock.set_maximum = rtl.set_maximum;
    clock.set_maximum_list = rtl.set_maximum_list;
    clock.set_maximum_data_units = rtl.set_maximum_data_units;
    clock.set_own = rtl.set_entry_credits;
    clock.set_own_function = rtl.set_entry_credits_underlying_function;
    clock.set_own_credits = rtl.set_entry_credits_credits;
    clock.set_shared = rtl.set_shared_entry_credits;
    clock.set_shared_credits = rtl.set_shared_entry_credits_credits;
    clock.set_shared_cap = rtl.set_shared_entry_credits_cap;
    clock.forward = rtl.forward && rtl.command_ready && !rtl.command;
  }

  // Compares the outputs after the clock, and executes in the model what the RTL did `answer_clocks` before.
  template <class Rtl> void follow(const Rtl& rtl, const Place& place) {
    ++now_;
    Clock& clock = clocks_[now_ % depth];
    clock = {};
    clock.pushed = rtl.pushed;
    clock.pushed_result = rtl.pushed_result;
    clock.pushed_list = rtl.pushed_list;
    clock.pushed_entry = rtl.pushed_entry;
    clock.marked = rtl.marked;
    clock.marked_result = rtl.marked_result;
    clock.scrubbed = rtl.scrubbed;
    clock.scrubbed_entry = rtl.scrubbed_entry;
    clock.scrubbed_status = rtl.scrubbed_status;
    clock.injected = rtl.error_injected;
    clock.injected_entry = rtl.inject_error_entry;
    clock.injected_bit = rtl.inject_error_bit;
    if (now_ < answer_clocks)
      return;
    place_ = place;
    done_ = now_ - answer_clocks;
    settings(at(done_ - 3), at(done_ - 2));
    free_some();
    maintain(at(done_ + 1));
    std::optional<Removal> removal = decide(rtl);
    if (at(done_ + 2).marked)
      mark(at(done_ + 2));
    if (at(done_ + 1).pushed)
      push(at(done_ + 1));
    if (removal)
      remove(rtl, *removal);
    watch_turns(rtl, removal);
    if (const char* contradiction = done_ % 16 == 0 ? model_.verify() : nullptr; contradiction != nullptr) {
      std::printf("seed %llu, clock %llu: RTL led the model to: %s\n",
                  static_cast<unsigned long long>(place_.seed), static_cast<unsigned long long>(place_.clock),
                  contradiction);
      std::exit(1);
    }
  }

  // Data units on a list of the RTL, and the entry at its head.
  uint32_t count(uint32_t list) const {
    const uint16_t model = model_list(list);
    return model == hca::no_list ? 0 : model_.count(model);
  }
  uint32_t head(uint32_t list) const {
    const uint16_t entry = model_.head(model_list(list));
    for (uint32_t each = 0; each < entries; ++each)
      if (held_[each] == entry)
        return each;
    return 0;
  }

  // A few more indices than lists; some differ only in high bits.
  static uint32_t some_index(Random& random) {
    const uint32_t number = random.below(lists + lists / 2 + 2);
    return content_addressed ? number % 3 == 2 ? number << 24 | 0xffffffU : number : number;
  }

  template <class Rtl> void compare_at_rest(const Rtl& rtl, uint32_t function, const Place& place) {
    place_ = place;
    expect_value("pushes without an answer", pushes_.size(), 0);
    expect_value("marks without an answer", marks_.size(), 0);
    expect_value("commands without an answer", commands_, 0);
    expect_value("inbound credits", rtl.inbound_credits, model_.inbound_credits());
    expect_value("reclaiming", rtl.reclaiming, model_.reclaiming());
    expect_value("own entry credits held", rtl.query_own_held, credits_.own_held(function));
    expect_value("shared entry credits held", rtl.query_shared_held, credits_.shared_held(function));
    const hca::LinkedListQueueCounters& model = model_.counters();
    const std::array expected{model.pushed,
                              model.popped,
                              model.reclaimed,
                              model.dropped_full + refused_[1],
                              model.dropped_no_entry_credit + refused_[2],
                              model.dropped_no_list_identifier + refused_[3],
                              model.dropped_list_full,
                              model.dropped_closed,
                              model.dropped_corrupted,
                              model.corrected_bit_errors,
                              model.detected_bit_errors};
    for (uint32_t counter = 0; counter < expected.size(); ++counter)
      if (rtl.counters[counter] != expected[counter]) {
        std::printf("counter %u: ", counter);
        differ(place_, "counter", rtl.counters[counter], expected[counter]);
      }
  }

  void report() const {
    std::printf("%llu data units, %llu scrubbed, %llu forwarded, %llu places taken; results",
                static_cast<unsigned long long>(model_.counters().pushed),
                static_cast<unsigned long long>(scrubbed_), static_cast<unsigned long long>(forwarded_),
                static_cast<unsigned long long>(refused_[3]));
    for (const uint64_t count : seen_)
      std::printf(" %llu", static_cast<unsigned long long>(count));
    std::printf("\n");
  }

private:
  // Clocks from the effect of a command to its answer; clocks of recorded inputs.
  static constexpr uint64_t answer_clocks = 4;
  static constexpr uint64_t depth = 16;
  // Clocks after which a push can use an entry that a command has freed, and its credit.
  static constexpr uint64_t entry_clocks = 3;
  static constexpr uint64_t credit_clocks = 4;
  // Turns that other lists may get before a ready one; clocks within which some ready list must be forwarded.
  static constexpr uint32_t most_turns = 4;
  static constexpr uint32_t turn_clocks = 24;
  static constexpr uint32_t clock_limit = 64;

  struct Push {
    uint32_t index;
    Unit unit;
    uint32_t function;
  };
  struct Mark {
    uint32_t entry;
    bool ready;
  };
  // The inputs of a clock, and the outputs after the previous one.
  struct Clock {
    bool pushed, marked, scrubbed, injected, set_maximum, set_own, set_shared, forward;
    uint8_t pushed_result, marked_result, scrubbed_status;
    uint32_t pushed_list, pushed_entry, scrubbed_entry, injected_entry, injected_bit;
    uint32_t set_maximum_list, set_maximum_data_units;
    uint32_t set_own_function, set_own_credits, set_shared_credits, set_shared_cap;
  };
  struct Removal {
    uint16_t list; // the model's
    bool reclaims;
    bool closes;
  };

  const Clock& at(uint64_t clock) const { return clocks_[clock % depth]; }
  void expect_value(const char* what, uint64_t rtl, uint64_t model) const {
    expect(place_, what, rtl, model);
  }
  void expect_result(const char* what, uint8_t rtl, Result model) {
    expect_value(what, rtl, static_cast<uint64_t>(model));
    ++seen_[rtl];
  }

  // The model's list for a list of the RTL. With content addressing, an identifier without data units belongs
  // to no list.
  uint16_t model_list(uint32_t list) const {
    if (list >= lists)
      return hca::no_list;
    if (!content_addressed)
      return static_cast<uint16_t>(list);
    return used_[list] == 0 ? hca::no_list : model_.find(index_of_[list]);
  }

  void settings(const Clock& lists_set, const Clock& credits_set) {
    if (lists_set.set_maximum)
      maximum_[lists_set.set_maximum_list] = lists_set.set_maximum_data_units;
    if (credits_set.set_own)
      credits_.set_own(credits_set.set_own_function, credits_set.set_own_credits);
    if (!credits_set.set_shared)
      return;
    credits_.set_shared(credits_set.set_shared_credits);
    for (uint32_t function = 0; function < functions; ++function)
      credits_.set_shared_cap(function, credits_set.set_shared_cap);
  }

  void maintain(const Clock& clock) {
    if (clock.injected && held_[clock.injected_entry])
      model_.inject_error(*held_[clock.injected_entry], clock.injected_bit);
    if (!clock.scrubbed)
      return;
    ++scrubbed_;
    expect_value("entry scrubbed", clock.scrubbed_entry, next_scrubbed_);
    next_scrubbed_ = next_scrubbed_ + 1 == entries ? 0 : next_scrubbed_ + 1;
    hca::SecdedStatus status = hca::SecdedStatus::clean;
    if (held_[clock.scrubbed_entry])
      status = model_.scrub_entry(*held_[clock.scrubbed_entry]).status;
    expect_value("status scrubbed", clock.scrubbed_status, static_cast<uint64_t>(status));
  }

  // The answers of this clock were decided before its mark and push (refusals, peeks). A data unit is
  // removed, and a list closed, after them.
  template <class Rtl> std::optional<Removal> decide(const Rtl& rtl) {
    if (!rtl.answered)
      return std::nullopt;
    const auto kind = static_cast<LinkedListCommand>(rtl.answered_kind);
    const uint16_t list = model_list(rtl.answered_list);
    if (kind == LinkedListCommand::reclaim_step)
      return Removal{list, true, false};
    if (!rtl.answered_forward)
      --commands_;
    switch (kind) {
    case LinkedListCommand::peek:
      expect_read("peek", rtl, model_.peek(list));
      return std::nullopt;
    case LinkedListCommand::reset_peek_pointer:
      expect_result("reset peek pointer", rtl.answered_result, model_.reset_peek_pointer(list));
      return std::nullopt;
    case LinkedListCommand::reclaim: {
      const Result refusal = Model(model_).reclaim(list);
      expect_result("reclaim", rtl.answered_result, refusal);
      return refusal == Result::ok ? std::optional(Removal{list, false, true}) : std::nullopt;
    }
    default:
      break;
    }
    const Result result = refusal_of(kind, list);
    if (result == Result::ok)
      return Removal{list, false, false};
    expect_result("pop", rtl.answered_result, result);
    return std::nullopt;
  }

  Result refusal_of(LinkedListCommand kind, uint16_t list) const {
    Model probe = model_;
    if (list == hca::no_list)
      return Result::unknown_list;
    const Result access = probe.reset_peek_pointer(list);
    if (access != Result::ok)
      return access;
    const bool ready = model_.lists_ready().test(list);
    if (kind == LinkedListCommand::pop && !ready)
      return Result::not_ready;
    if (kind == LinkedListCommand::discard_not_ready && ready)
      return Result::ready;
    return Result::ok;
  }

  template <class Rtl> void expect_read(const char* what, const Rtl& rtl, const Model::Read& model) {
    expect_result(what, rtl.answered_result, model.result);
    if (model.entry == hca::no_entry)
      return;
    expect_value("entry", held_[rtl.answered_entry].value_or(hca::no_entry), model.entry);
    expect_value("index", rtl.answered_index, model.index);
    const auto& words = rtl.answered_unit;
    expect_value("data unit, low half", uint64_t{words[1]} << 32 | words[0], model.unit.low);
    expect_value("data unit, high half", uint64_t{words[3]} << 32 | words[2], model.unit.high);
  }

  template <class Rtl> void remove(const Rtl& rtl, const Removal& removal) {
    if (removal.closes) {
      model_.reclaim(removal.list);
      return;
    }
    const Model::Read read = removal.reclaims ? model_.reclaim_step() : model_.discard(removal.list);
    if (removal.reclaims) {
      expect_value("reclaimed list", rtl.answered_list, rtl_list_of(read.index));
    }
    expect_read(removal.reclaims ? "reclaim step" : "pop", rtl, read);
    held_[rtl.answered_entry].reset();
    --used_[rtl.answered_list];
    freed_.push_back({done_, paid_[rtl.answered_entry]});
  }

  uint32_t rtl_list_of(uint32_t index) const {
    if (!content_addressed)
      return index;
    for (uint32_t list = 0; list < lists; ++list)
      if (used_[list] != 0 && index_of_[list] == index)
        return list;
    return lists;
  }

  void mark(const Clock& clock) {
    expect_value("mark that is answered", !marks_.empty(), 1);
    const Mark mark = marks_.front();
    marks_.pop_front();
    if (mark.entry >= entries || !held_[mark.entry]) {
      expect_result("mark", clock.marked_result, Result::empty);
      return;
    }
    const uint16_t entry = *held_[mark.entry];
    expect_result("mark", clock.marked_result,
                  mark.ready ? model_.mark_ready(entry) : model_.mark_not_ready(entry));
  }

  // Entries removed some clocks before are usable again.
  void free_some() {
    for (const Freed& freed : freed_)
      if (freed.clock + entry_clocks == done_)
        ++free_;
    while (!freed_.empty() && freed_.front().clock + credit_clocks <= done_) {
      credits_.give_back(freed_.front().paid.function, freed_.front().paid.credit);
      freed_.pop_front();
    }
  }

  void push(const Clock& clock) {
    expect_value("push that is answered", !pushes_.empty(), 1);
    const Push push = pushes_.front();
    pushes_.pop_front();
    const uint32_t list = clock.pushed_list;
    const hca::CreditSource credit = credits_.available(push.function);
    const std::optional<Result> refusal =
        free_ == 0                                      ? std::optional(Result::full)
        : credit == hca::CreditSource::none             ? std::optional(Result::no_entry_credit)
        : content_addressed && places_taken(push.index) ? std::optional(Result::no_list_identifier)
                                                        : std::nullopt;
    if (refusal) {
      expect_result("push that the model need not refuse", clock.pushed_result, *refusal);
      ++refused_[clock.pushed_result];
      return;
    }
    const uint16_t found = model_.find(push.index);
    for (uint16_t each = 0; each < lists; ++each)
      if (content_addressed ? each == found || model_.count(each) == 0 : each == list)
        model_.set_maximum(each, static_cast<uint16_t>(maximum_[list]));
    const Model::Pushed pushed = model_.push(push.index, push.unit, push.function);
    expect_result("push", clock.pushed_result, pushed.result);
    if (pushed.result != Result::ok)
      return;
    expect_value("entry that is given twice", held_[clock.pushed_entry].has_value(), 0);
    if (used_[list] != 0)
      expect_value("index of the list", push.index, index_of_[list]);
    else if (content_addressed)
      expect_value("place of the list", may_have(push.index, list), 1);
    else
      expect_value("list of the push", list, push.index);
    expect_value("list that the index had", found != hca::no_list && model_.count(found) > 1,
                 used_[list] != 0);
    held_[clock.pushed_entry] = pushed.entry;
    credits_.hold(push.function, credit);
    paid_[clock.pushed_entry] = {push.function, credit};
    --free_;
    index_of_[list] = push.index;
    ++used_[list];
  }

  // The places of an index: one in each way, its low bits exclusive or all others, rotated by the number of
  // the way.
  static constexpr uint32_t ways = lists < 4 ? lists : 4;
  static constexpr uint32_t place_width() {
    uint32_t width = 0;
    while (ways << (width + 1) <= lists)
      ++width;
    return width == 0 ? 1 : width;
  }
  static uint32_t list_of(uint32_t index, uint32_t way) {
    uint32_t number = 0;
    for (uint32_t part = 0; lists > ways && part * place_width() < 32; ++part)
      for (uint32_t place = 0; place < place_width(); ++place)
        if (const uint32_t bit = part * place_width() + (place + way * part) % place_width(); bit < 32)
          number ^= (index >> bit & 1) << place;
    return number * ways + way;
  }
  static bool may_have(uint32_t index, uint32_t list) { return list_of(index, list % ways) == list; }
  bool places_taken(uint32_t index) const {
    for (uint32_t way = 0; way < ways; ++way)
      if (const uint32_t list = list_of(index, way); used_[list] == 0 || index_of_[list] == index)
        return false;
    return true;
  }

  // While a list is ready, no other gets more than four turns before it; ready data units must leave.
  template <class Rtl> void watch_turns(const Rtl& rtl, const std::optional<Removal>& removal) {
    const bool forwarded = rtl.answered && rtl.answered_forward;
    forwarded_ += forwarded;
    bool any = false;
    for (uint16_t list = 0; list < lists; ++list) {
      const bool ready = model_.lists_ready().test(list);
      ready_for_[list] = ready && !(removal && removal->list == list) ? ready_for_[list] + 1 : 0;
      any = any || ready_for_[list] > turn_clocks;
      if (ready_for_[list] <= turn_clocks) {
        turns_[list].fill(0);
        continue;
      }
      if (!forwarded)
        continue;
      const uint32_t turns = ++turns_[list][rtl.answered_list];
      if (turns > most_turns)
        differ(place_, "turns before a list that is ready", turns, most_turns);
    }
    if (rtl.answered_forward || !any || !at(done_ - 3).forward)
      waited_ = 0;
    else if (++waited_ > clock_limit)
      differ(place_, "clocks that ready lists waited", waited_, clock_limit);
  }

  Model model_{
      {.entries = entries,
       .lists = lists,
       .addressing = content_addressed ? hca::ListAddressing::content_addressed : hca::ListAddressing::direct,
       .underlying_functions = functions,
       .ready_on_push = ready_on_push}};
  Place place_;
  uint64_t now_ = 0;
  uint64_t done_ = 0;
  std::array<Clock, depth> clocks_{};
  std::deque<Push> pushes_; // without an answer
  std::deque<Mark> marks_;
  uint64_t commands_ = 0; // without an answer

  std::array<std::optional<uint16_t>, entries> held_{}; // the model's entry for each entry of the RTL
  std::array<uint32_t, lists> index_of_{};              // by list of the RTL
  std::array<uint32_t, lists> used_{};                  // data units on them
  std::array<uint32_t, lists> maximum_{};
  struct Paid {
    uint32_t function = 0;
    hca::CreditSource credit = hca::CreditSource::none;
  };
  struct Freed {
    uint64_t clock = 0;
    Paid paid;
  };
  hca::CreditPool credits_{functions, entries, 0, 0}; // as pushes see them; the model's own never run out
  std::array<Paid, entries> paid_{};                  // by entry of the RTL
  uint32_t free_ = entries;
  std::deque<Freed> freed_;           // by the last commands
  std::array<uint64_t, 4> refused_{}; // by result; the model did not execute these
  std::array<uint32_t, lists> ready_for_{};
  std::array<std::array<uint32_t, lists>, lists> turns_{};
  uint32_t waited_ = 0;
  uint32_t next_scrubbed_ = 0;
  uint64_t scrubbed_ = 0;
  uint64_t forwarded_ = 0;
  std::array<uint64_t, 11> seen_{}; // by result
};

} // namespace fpga_verbs::bench
