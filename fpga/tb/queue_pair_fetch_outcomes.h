#pragma once

#include "Vqueue_pair_fetch.h"
#include "bench.h"
#include "queue_pair_fetch_model.h"

#include "hca/collect/execution.h"
#include "spec/contexts.h"
#include "spec/data_units.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>

namespace fpga_verbs::bench {

// The requester part, without the field of packet_builder.
inline spec::QueuePairRequester own_fields(const void* part) {
  spec::QueuePairRequester requester;
  std::memcpy(&requester, part, sizeof requester);
  requester.set_built_psn(0);
  return requester;
}

// The effects of the units that queue_pair_fetch has taken: the model's, which RTL must have in the same
// order. It is the bench's side of contexts, failures, PCBs and the scheduler.
class FetchOutcomes {
public:
  // RTL's context of a queue pair. The model's has changed already if a unit of it is in flight.
  struct Context {
    spec::QueuePairControl control;
    spec::QueuePairRequester requester;
  };
  struct Failure {
    uint32_t number = 0;
    unsigned underlying_function = 0;
    bool enters_error = false;
  };

  FetchOutcomes(const Place& place, FetchModel& model, Vqueue_pair_fetch& rtl)
      : place_(place), model_(model), rtl_(rtl) {}

  static uint32_t place_of(uint32_t queue_pair_number) { return queue_pair_number & (CONTEXTS - 1); }
  Context& context(uint32_t queue_pair_number) { return contexts_[place_of(queue_pair_number)]; }

  // Notes the model's effects of a unit that entered in a clock and read this requester part.
  void gather(uint64_t entered, uint32_t named, const spec::QueuePairRequester& before) {
    const auto found = model_.queue_pairs.find_any(named);
    drain(model_.executions, [&](const spec::KickUnit& unit) {
      const hca::Execution& plan = model_.buffers[unit.physical_collect_buffer()].execution;
      const bool is_good = unit.status() == spec::CompletionStatus::success;
      const bool is_flushed = unit.status() == spec::CompletionStatus::work_request_flushed_error;
      executions_.push_back({.unit = unit,
                             .plan = plan,
                             .has_destination = is_good && found->control.service_type() ==
                                                               spec::ServiceType::unreliable_datagram,
                             .entered = entered});
      ++executed;
      flushed += is_flushed;
      if (!is_good && !is_flushed)
        failures_.push_back({.number = named, .underlying_function = found->control.underlying_function()});
      flushes += !is_good && !is_flushed;
    });
    drain(model_.schedule_requests, [&](const spec::ScheduleRequest& unit) { requests_.push_back(unit); });
    drain(model_.finishes_handed_back, [&](const spec::FinishUnit& unit) { finishes_.push_back(unit); });
    releases_.insert(releases_.end(), model_.collect_buffer.released.begin(),
                     model_.collect_buffer.released.end());
    model_.collect_buffer.released.clear();
    for (const spec::EventUnit& event : model_.reported.events) {
      events_.push_back(event);
      failures_.push_back({.number = named,
                           .underlying_function = static_cast<unsigned>(event.underlying_function()),
                           .enters_error = true});
    }
    model_.reported.events.clear();
    if (!found)
      return;
    spec::QueuePairRequester is;
    std::memcpy(&is, &found->requester, sizeof is);
    if (before.retry_epoch() == is.retry_epoch())
      return;
    rewinds_.push_back({.number = named, .psn = static_cast<uint32_t>(is.built_psn())});
    ++rewound;
  }
  void begin_failure() {
    if (failures_.empty())
      differ(place_, "failures", 1, 0);
    failing = failures_.front();
    failures_.pop_front();
    expect(place_, "queue pair that fails", rtl_.fail_number, failing->number);
    expect(place_, "function of one that fails", rtl_.fail_underlying_function, failing->underlying_function);
    expect(place_, "fails by entering ERR", rtl_.fail_enters_error, failing->enters_error);
    expect(place_, "fails by a flush", rtl_.fail_flushes, !failing->enters_error);
  }
  // The failure is in the context from this clock.
  void end_failure() {
    spec::QueuePairControl& control = context(failing->number).control;
    if (failing->enters_error)
      control.set_state(spec::QueuePairState::error);
    else
      control.set_send_error(1);
    failing.reset();
  }

  // RTL's context of a queue pair while no unit of it is in flight.
  void compare_context(uint32_t named, const hca::QueuePairParts& model) {
    const Context& own = context(named);
    const spec::QueuePairRequester& ours = own.requester;
    const spec::QueuePairRequester theirs = own_fields(&model.requester);
    expect(place_, "next", ours.next(), theirs.next());
    expect(place_, "posted", ours.posted(), theirs.posted());
    expect(place_, "fetch_next", ours.fetch_next(), theirs.fetch_next());
    expect(place_, "begun", ours.begun(), theirs.begun());
    expect(place_, "scheduled", ours.scheduled(), theirs.scheduled());
    expect(place_, "stopped", ours.stopped(), theirs.stopped());
    expect(place_, "rewound", ours.rewound(), theirs.rewound());
    expect(place_, "hold", static_cast<uint64_t>(ours.hold()), static_cast<uint64_t>(theirs.hold()));
    expect(place_, "next PSN", ours.next_psn(), theirs.next_psn());
    expect(place_, "epoch", ours.retry_epoch(), theirs.retry_epoch());
    expect(place_, "SSN", ours.send_sequence_number(), theirs.send_sequence_number());
    expect(place_, "READs and atomics", ours.read_atomic_issued(), theirs.read_atomic_issued());
    expect(place_, "packets to resume after", ours.resume_packets(), theirs.resume_packets());
    expect(place_, "state", static_cast<uint64_t>(own.control.state()),
           static_cast<uint64_t>(model.control.state()));
    expect(place_, "flush", own.control.send_error(), model.control.send_error());
  }

  void compare() {
    if (rtl_.execution_valid && rtl_.execution_ready) {
      if (executions_.empty())
        differ(place_, "executions", 1, 0);
      compare_bytes("a unit that executes", &rtl_.execution_unit, &executions_.front().unit,
                    sizeof(spec::KickUnit));
      plans_.push_back(executions_.front());
      executions_.pop_front();
    }
    if (rtl_.schedule_request_valid && rtl_.schedule_request_ready) {
      to_serve.push_back(compare_next("a schedule request", requests_, rtl_.schedule_request_unit));
      ++scheduled;
    }
    if (rtl_.finish_handed_back_valid && rtl_.finish_handed_back_ready)
      compare_next("a finish", finishes_, rtl_.finish_handed_back_unit);
    if (rtl_.event_valid && rtl_.event_ready)
      compare_next("an event", events_, rtl_.event_unit);
    if (rtl_.rewind_valid && rtl_.rewind_ready) {
      if (rewinds_.empty())
        differ(place_, "rewinds", 1, 0);
      expect(place_, "queue pair that goes back", rtl_.rewind_number, rewinds_.front().number);
      expect(place_, "built PSN", rtl_.rewind_psn, rewinds_.front().psn);
      rewinds_.pop_front();
    }
    if (rtl_.release_buffer)
      free_buffers.push_back(static_cast<uint16_t>(
          expect_number("a released PCB", releases_, rtl_.release_physical_collect_buffer)));
    if (rtl_.unpin)
      expect_number("a pin less", unpins, rtl_.unpin_number);
    if (rtl_.fetch_write) {
      expect(place_, "a queue pair that is written is there",
             static_cast<bool>(model_.queue_pairs.find_any(rtl_.fetch_number)), 1);
      context(rtl_.fetch_number).requester = own_fields(&rtl_.fetch_requester);
    }
    expect(place_, "commands lost", rtl_.command_corrupted, 0);
    count();
    compare_plan();
  }

  bool is_over() const {
    return executions_.empty() && requests_.empty() && finishes_.empty() && releases_.empty() &&
           events_.empty() && failures_.empty() && rewinds_.empty() && unpins.empty() && plans_.empty();
  }
  // At rest.
  void compare_counts() {
    handed_back = stale = refused = 0;
    held = {};
    for (unsigned function = 0; function < FetchModel::functions; ++function) {
      const hca::FunctionCounters& ours = counted_[function];
      const hca::FunctionCounters& theirs = model_.counters.function[function];
      expect(place_, "stale commands", ours.commands_stale, theirs.commands_stale);
      expect(place_, "commands handed back", ours.commands_handed_back, theirs.commands_handed_back);
      expect(place_, "commands refused", ours.commands_refused, theirs.commands_refused);
      expect(place_, "checksum mismatches", ours.checksum_mismatches, theirs.checksum_mismatches);
      stale += ours.commands_stale;
      handed_back += ours.commands_handed_back;
      refused += ours.commands_refused;
      for (size_t hold = 0; hold < held.size(); ++hold) {
        expect(place_, "holds", ours.send_holds[hold], theirs.send_holds[hold]);
        held[hold] += ours.send_holds[hold];
      }
    }
  }

  void print() const {
    const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf("%llu executed, %llu flushed, %llu failed, %llu handed back, %llu stale, %llu refused, "
                "%llu rewound, %llu scheduled, holds",
                number(executed), number(flushed), number(flushes), number(handed_back), number(stale),
                number(refused), number(rewound), number(scheduled));
    for (const uint64_t each : held)
      std::printf(" %llu", number(each));
    std::printf("\n");
  }

  std::optional<Failure> failing;
  std::deque<uint32_t> unpins; // numbers of the units that a pin ends with
  std::deque<spec::ScheduleRequest> to_serve;
  std::deque<uint16_t> free_buffers;
  uint64_t executed = 0;
  uint64_t flushed = 0;
  uint64_t flushes = 0;
  uint64_t handed_back = 0;
  uint64_t stale = 0;
  uint64_t refused = 0;
  uint64_t rewound = 0;
  uint64_t scheduled = 0;
  std::array<uint64_t, spec::underlying_function::send_holds_count> held{};

private:
  struct Rewind {
    uint32_t number = 0;
    uint32_t psn = 0;
  };
  struct Executed {
    spec::KickUnit unit;
    hca::Execution plan;
    bool has_destination = false;
    uint64_t entered = 0; // in which clock
  };
  template <class Unit, class Take> static void drain(hca::DataLink<Unit>& link, Take take) {
    for (; !link.empty(); link.pop())
      take(link.front());
  }

  template <class Unit, class Port>
  Unit compare_next(const char* what, std::deque<Unit>& expected, const Port& port) {
    if (expected.empty())
      differ(place_, what, 1, 0);
    const Unit unit = expected.front();
    expected.pop_front();
    compare_bytes(what, &port, &unit, sizeof unit);
    return unit;
  }
  void compare_bytes(const char* what, const void* rtl, const void* model, size_t bytes) {
    for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
      uint32_t ours = 0;
      uint32_t theirs = 0;
      std::memcpy(&ours, static_cast<const uint8_t*>(rtl) + at, sizeof ours);
      std::memcpy(&theirs, static_cast<const uint8_t*>(model) + at, sizeof theirs);
      expect(place_, what, ours, theirs);
    }
  }
  uint32_t expect_number(const char* what, std::deque<uint32_t>& expected, uint32_t rtl) {
    if (expected.empty())
      differ(place_, what, rtl, 0);
    const uint32_t number = expected.front();
    expected.pop_front();
    expect(place_, what, rtl, number);
    return number;
  }

  void count() {
    hca::FunctionCounters& counted = counted_[rtl_.counted_underlying_function % spec::underlying_functions];
    counted.commands_stale += rtl_.counted_stale;
    counted.commands_handed_back += rtl_.counted_handed_back;
    counted.commands_refused += rtl_.counted_refused;
    counted.checksum_mismatches += rtl_.counted_checksum_mismatch;
    if (rtl_.counted_hold != 0)
      ++counted.send_holds[rtl_.counted_hold];
  }

  // Compares the plans of commands that dma has got, through both readers; then dma releases the PCB.
  void compare_plan() {
    if (is_plan_asked_) {
      const Executed executed = plans_.front();
      plans_.pop_front();
      compare_plan(executed, &rtl_.dma_plan[0]);
      compare_plan(executed, &rtl_.builder_plan[0]);
      free_buffers.push_back(static_cast<uint16_t>(executed.unit.physical_collect_buffer()));
    }
    is_plan_asked_ = !plans_.empty();
    if (!is_plan_asked_)
      return;
    rtl_.dma_physical_collect_buffer = rtl_.builder_physical_collect_buffer =
        plans_.front().unit.physical_collect_buffer();
  }
  void compare_plan(const Executed& executed, const uint32_t* words) {
    unsigned at = 0;
    const auto field = [&](unsigned width) {
      uint64_t bits = 0;
      for (unsigned bit = 0; bit < width; ++bit, ++at)
        bits |= uint64_t{words[at / 32] >> (at % 32) & 1} << bit;
      return bits;
    };
    const hca::Execution& plan = executed.plan;
    expect(place_, "length of a message", field(32), plan.message_length);
    expect(place_, "packets of a message", field(24), plan.packets);
    expect(place_, "first PSN of a message", field(24), plan.first_psn);
    expect(place_, "next packet of a message", field(24), plan.next_packet);
    expect(place_, "epoch of a message", field(7), plan.retry_epoch);
    const uint64_t begun = field(64);
    expect(place_, "records of a message", begun != 0, plan.begun != 0);
    expect(place_, "begin of a message",
           begun == 0 || (begun > executed.entered && begun <= place_.clock + 1), 1);
    for (size_t byte = 0; executed.has_destination && byte < sizeof plan.destination; ++byte)
      expect(place_, "destination of a datagram", field(8),
             reinterpret_cast<const uint8_t*>(&plan.destination)[byte]);
  }

  const Place& place_;
  FetchModel& model_;
  Vqueue_pair_fetch& rtl_;
  std::array<Context, CONTEXTS> contexts_;
  // The effects that RTL must have, in order.
  std::deque<Executed> executions_;
  std::deque<Executed> plans_;
  bool is_plan_asked_ = false;
  std::deque<spec::ScheduleRequest> requests_;
  std::deque<spec::FinishUnit> finishes_;
  std::deque<uint32_t> releases_;
  std::deque<spec::EventUnit> events_;
  std::deque<Failure> failures_;
  std::deque<Rewind> rewinds_;
  std::array<hca::FunctionCounters, spec::underlying_functions> counted_{};
};

} // namespace fpga_verbs::bench
