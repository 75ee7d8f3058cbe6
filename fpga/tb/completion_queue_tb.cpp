// completion_queue beside the device model: entries, armings and commands for queues that are created,
// resized and destroyed at random. Some queues overrun or cannot be reached; the host answers after random
// times. The RTL answers in the order of effects, and each queue's model executes the accesses in that order.
// Arguments: seed, clocks.
//
// First writes entries at full speed, to one queue and to eight, and prints the clocks that they take. At
// rest, entries find all slots free.
#include "Vcompletion_queue.h"
#include "completion_queue_host.h"
#include "completion_queue_stream.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>
#include <verilated.h>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vcompletion_queue;

enum class Kind : uint8_t { sweep, write, arm, control };

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks), pages_(random_) {}

  int run() {
    start_anew();
    stream(1);
    stream(8);
    fill();
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 256 == 0)
        choose();
      if (place_.clock % 4096 == 4095) {
        come_to_rest();
        fill();
        lose();
        choose();
      }
      offer();
      step();
    }
    come_to_rest();
    std::printf("%llu entries in %llu clocks, %llu dropped, %llu waited, %llu armings, %llu events, "
                "%llu moderated, %llu failures, %llu commands, %llu not done, %llu in use\n",
                number(writes_), number(clocks_), number(dropped_), number(waited_), number(arms_),
                number(signals_), number(moderated_), number(failures_), number(commands_), number(not_done_),
                number(in_use_));
    return 0;
  }

private:
  static unsigned long long number(uint64_t value) { return value; }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.write = rtl_.arm = rtl_.control = rtl_.translated = rtl_.read_answer = rtl_.piece_answer = 0;
    rtl_.event_ready = 1;
    step();
    step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < std::max<uint32_t>(completion_queues, ENTRIES) + 8; ++clock)
      step();
    expect(place_, "clearing", rtl_.clearing, 0);
  }

  void choose() {
    stream_.choose();
    host_.pace = {.ready = std::array{20U, 80U, 100U}[random_.below(3)],
                  .latency = std::array{1U, 20U, 150U}[random_.below(3)],
                  .lost = std::array{0U, 2U, 50U}[random_.below(3)],
                  .is_smooth = false};
  }

  // Stimulus.

  void offer() {
    for (auto& [number, queue] : live_)
      if (random_.percent(stream_.consume) && queue.head != queue.model->queue.tail(ModelQueue::number))
        ++queue.head;
    rtl_.event_ready = random_.percent(host_.pace.ready);
    if (!rtl_.write && random_.percent(stream_.write))
      put(stream_.some_write(stream_.some_number()));
    if (!rtl_.arm && random_.percent(stream_.arm))
      put(stream_.some_arm());
    if (rtl_.control || !controls_.empty() || !random_.percent(stream_.control))
      return;
    const uint32_t waiting = random_.once(2) ? host_.first_with_heads() : 0;
    const CompletionControl control =
        live_.contains(waiting)
            ? CompletionControl{.destroy = true, .number = waiting, .function = live_.at(waiting).function}
            : stream_.some_control();
    if (control.number != 0)
      put(control);
  }

  void put(const CompletionWrite& write) {
    rtl_.write = 1;
    rtl_.write_number = write.number;
    rtl_.write_underlying_function = write.function;
    rtl_.write_user = next_user_;
    std::memcpy(&rtl_.write_entry, &write.entry, entry_bytes);
    offered_write_ = write;
  }

  void put(const CompletionArm& arm) {
    rtl_.arm = 1;
    rtl_.arm_underlying_function = arm.function;
    rtl_.arm_request = arm.request.bits;
    offered_arm_ = arm;
  }

  void put(const CompletionControl& control) {
    rtl_.control = 1;
    rtl_.control_create = control.create;
    rtl_.control_resize = control.resize;
    rtl_.control_moderate = control.moderate;
    rtl_.control_destroy = control.destroy;
    rtl_.control_number = control.number;
    rtl_.control_underlying_function = control.function;
    rtl_.control_entries_log2 = control.entries_log2;
    rtl_.control_page_table = control.table;
    rtl_.control_event_queue = control.event_queue;
    rtl_.control_user_handle = control.user_handle;
    rtl_.control_head_address = completion_head_address(control.number);
    rtl_.control_moderation_count = control.count;
    rtl_.control_moderation_ticks = control.period;
    offered_control_ = control;
  }

  // A clock.

  void step() {
    rtl_.now = now_;
    host_.serve(rtl_, now_);
    rtl_.clock = 0;
    rtl_.eval();
    const bool writes = rtl_.write && rtl_.write_ready;
    const bool arms = rtl_.arm && rtl_.arm_ready;
    const bool controls = rtl_.control && rtl_.control_ready;
    if (!rtl_.reset)
      take_answers();
    if (writes) {
      offered_write_.time = now_;
      expect(place_, "users under way", under_way_.contains(rtl_.write_user), 0);
      under_way_[rtl_.write_user] = offered_write_;
      order_[{offered_write_.number, offered_write_.function}].push_back(rtl_.write_user);
      next_user_ = (next_user_ + 1) & 0xffff;
    }
    if (arms) {
      offered_arm_.time = now_;
      asked_arms_.push_back(offered_arm_);
    }
    if (controls) {
      offered_control_.time = now_;
      controls_.push_back(offered_control_);
    }
    rtl_.clock = 1;
    rtl_.eval();
    ++now_;
    if (writes)
      rtl_.write = 0;
    if (arms)
      rtl_.arm = 0;
    if (controls)
      rtl_.control = 0;
  }

  void take_answers() {
    host_.take(rtl_, now_);
    if (rtl_.event_valid && rtl_.event_ready) {
      spec::EventUnit event;
      static_assert(sizeof event == sizeof rtl_.event_unit);
      std::memcpy(&event, &rtl_.event_unit, sizeof event);
      events_.push_back(event);
    }
    if (rtl_.failed)
      failed_.push_back(rtl_.failed_number);
    if (rtl_.answered)
      compare();
  }

  LiveQueue& at(uint32_t number, const char* what) {
    const auto found = live_.find(number);
    if (found == live_.end())
      differ(place_, what, number, 0);
    return found->second;
  }
  LiveQueue* find(uint32_t number, unsigned function) {
    const auto found = live_.find(number);
    return found == live_.end() || found->second.function != function ? nullptr : &found->second;
  }

  // Answers.

  void compare() {
    const uint32_t number = rtl_.answered_number;
    bool failed_before = false;
    LiveQueue* queue = nullptr;
    switch (static_cast<Kind>(rtl_.answered_kind)) {
    case Kind::sweep:
      queue = &at(number, "queue whose period is over");
      expect(place_, "a queue in error is signaled", queue->failed, 0);
      expect(place_, "a period is over", queue->model->queue.next_deadline() <= now_, 1);
      queue->model->time = now_;
      // The model's scan may need to end and begin again.
      for (uint32_t turn = 0; turn < 3 && queue->model->events.empty(); ++turn)
        queue->model->queue.step();
      ++moderated_;
      break;
    case Kind::write: {
      const auto found = under_way_.find(rtl_.answered_user);
      if (found == under_way_.end())
        differ(place_, "entries under way", 1, 0);
      const CompletionWrite write = found->second;
      under_way_.erase(found);
      expect(place_, "number of an entry", number, write.number);
      expect(place_, "function of an entry", rtl_.answered_underlying_function, write.function);
      queue = find(write.number, write.function);
      failed_before = queue != nullptr && queue->failed;
      compare_write(write, queue);
      break;
    }
    case Kind::arm:
      queue = compare_arm();
      failed_before = queue != nullptr && queue->failed;
      break;
    case Kind::control:
      queue = compare_control();
      failed_before = queue != nullptr && queue->failed;
      break;
    }
    compare_events(number, queue, failed_before);
  }

  void compare_write(const CompletionWrite& write, LiveQueue* queue) {
    ++writes_;
    waited_ += rtl_.answered_waited;
    bool done = false;
    // The RTL may have written entries after the failed one.
    const WrittenEntry* const piece = queue == nullptr ? nullptr : host_.piece_of(write.number);
    if (queue != nullptr && queue->failed) {
      expect(place_, "an entry is written to a queue in error",
             piece != nullptr && write.time > queue->failed_at, 0);
      if (piece != nullptr)
        host_.drop_piece();
      if (rtl_.answered_waited)
        host_.take_head(write.number);
    } else if (queue != nullptr) {
      ModelQueue& model = *queue->model;
      model.time = now_;
      if (piece != nullptr) {
        spec::CompletionQueueEntry entry;
        std::memcpy(&entry, piece->bytes.data(), entry_bytes);
        model.is_write_lost = piece->failed;
        model.time = entry.timestamp();
        expect(place_, "a time stamp is between entry and answer",
               model.time >= write.time && model.time <= now_, 1);
      }
      if (rtl_.answered_waited)
        model.head = host_.take_head(write.number);
      spec::CompletionQueueEntry entry = write.entry;
      done = model.queue.write(write.function, ModelQueue::number, entry);
      model.head.reset();
      if (model.written)
        host_.compare_piece(*model.written);
      model.written.reset();
      model.is_write_lost = false;
    } else
      expect(place_, "an entry waited for a queue that is gone", rtl_.answered_waited, 0);
    dropped_ += !done;
    expect(place_, "entry written", rtl_.answered_done, done);
    auto& order = order_.at({write.number, write.function});
    if (done)
      expect(place_, "entry of a queue that is written first", rtl_.answered_user, order.front());
    std::erase(order, rtl_.answered_user);
  }

  LiveQueue* compare_arm() {
    if (asked_arms_.empty())
      differ(place_, "armings under way", 1, 0);
    CompletionArm arm = asked_arms_.front();
    asked_arms_.pop_front();
    ++arms_;
    expect(place_, "number of an arming", rtl_.answered_number, arm.request.completion_queue());
    LiveQueue* const queue = find(arm.request.completion_queue(), arm.function);
    expect(place_, "armed", rtl_.answered_done, queue != nullptr);
    if (queue == nullptr || queue->failed)
      return queue;
    arm.request.set_completion_queue(ModelQueue::number);
    queue->model->time = arm.time;
    queue->model->queue.arm(arm.function, arm.request);
    return queue;
  }

  LiveQueue* compare_control() {
    if (controls_.empty())
      differ(place_, "commands under way", 1, 0);
    const CompletionControl control = controls_.front();
    controls_.pop_front();
    ++commands_;
    not_done_ += !rtl_.answered_done;
    expect(place_, "number of a command", rtl_.answered_number, control.number);
    LiveQueue* queue = find(control.number, control.function);
    if (control.create) {
      const bool done = !live_.contains(control.number);
      expect(place_, "created", rtl_.answered_done, done);
      if (!done) {
        pages_.translation().destroy_table(control.table);
        return queue;
      }
      live_.try_emplace(control.number,
                        LiveQueue{.model = std::make_unique<ModelQueue>(
                                      place_, pages_, control.function, control.entries_log2,
                                      completion_head_address(control.number), control.user_handle,
                                      control.event_queue, control.table),
                                  .function = control.function,
                                  .table = control.table});
      return &live_.at(control.number);
    }
    if (queue == nullptr) {
      expect(place_, "done with no queue", rtl_.answered_done, 0);
      if (control.resize)
        pages_.translation().destroy_table(control.table);
      return nullptr;
    }
    expect(place_, "in error", rtl_.answered_in_error, queue->failed);
    if (control.destroy)
      return end(control, *queue);
    if (control.resize)
      compare_resize(control, *queue);
    else
      expect(place_, "command done", rtl_.answered_done, 1);
    if (queue->failed)
      return queue;
    if (!control.resize)
      expect(place_, "tail", rtl_.answered_tail, queue->model->queue.tail(ModelQueue::number));
    queue->model->time = control.time;
    if (control.moderate)
      queue->model->queue.moderate(ModelQueue::number, control.count, control.period);
    return queue;
  }

  void compare_resize(const CompletionControl& control, LiveQueue& queue) {
    if (rtl_.answered_waited)
      queue.model->head = host_.take_head(control.number);
    uint32_t table = control.table;
    const spec::ManagementStatus status =
        queue.failed ? spec::ManagementStatus::bad_state
                     : queue.model->queue.resize(ModelQueue::number, control.entries_log2, table);
    queue.model->head.reset();
    expect(place_, "status of resize", rtl_.answered_status, static_cast<uint32_t>(status));
    expect(place_, "resized", rtl_.answered_done, status == spec::ManagementStatus::success);
    pages_.translation().destroy_table(table);
    if (status == spec::ManagementStatus::success)
      queue.table = control.table;
  }

  // A queue with a waiting entry stays.
  LiveQueue* end(const CompletionControl& control, LiveQueue& queue) {
    if (!rtl_.answered_done) {
      const bool is_waited_for = std::ranges::any_of(
          under_way_, [&](const auto& write) { return write.second.number == control.number; });
      expect(place_, "why it is not destroyed", rtl_.answered_status,
             static_cast<uint32_t>(spec::ManagementStatus::in_use));
      expect(place_, "an entry waits", is_waited_for, 1);
      ++in_use_;
      return &queue;
    }
    expect(place_, "entries that wait for the destroyed", host_.heads(control.number), 0);
    expect(place_, "events of the destroyed", events_.size(), 0);
    pages_.translation().destroy_table(queue.table);
    live_.erase(control.number);
    return nullptr;
  }

  void compare_events(uint32_t number, LiveQueue* queue, bool failed_before) {
    std::vector<spec::EventUnit> expected;
    bool fails = false;
    if (queue != nullptr) {
      std::swap(expected, queue->model->events);
      for (spec::EventUnit& event : expected) {
        if (event.type() != spec::EventType::dma_fault)
          event.set_object(number);
        if (event.type() == spec::EventType::completion_queue_error)
          fails = true;
        if (event.type() == spec::EventType::completion) {
          ++signals_;
          queue->events = (queue->events + 1) & 127;
        }
      }
    }
    failures_ += fails;
    expect(place_, "events", events_.size(), expected.size());
    for (size_t at = 0; at < expected.size(); ++at)
      for (size_t byte = 0; byte < sizeof expected[at]; byte += 8) {
        std::array<uint64_t, 2> words;
        std::memcpy(&words[0], reinterpret_cast<const uint8_t*>(&events_[at]) + byte, 8);
        std::memcpy(&words[1], reinterpret_cast<const uint8_t*>(&expected[at]) + byte, 8);
        expect(place_, byte == 0 ? "first half of an event" : "second half of an event", words[0], words[1]);
      }
    events_.clear();
    expect(place_, "queues that fail", failed_.size(), fails);
    if (fails)
      expect(place_, "queue that fails", failed_.front(), number);
    failed_.clear();
    if (fails)
      queue->failed_at = now_;
    if (queue != nullptr)
      queue->failed = failed_before || fails;
    const char* const wrong = queue != nullptr ? queue->model->queue.verify() : nullptr;
    if (wrong != nullptr)
      differ(place_, wrong, 0, 0);
  }

  void come_to_rest() {
    rtl_.event_ready = 1;
    for (uint32_t clock = 0; !rtl_.idle || rtl_.write || rtl_.arm || rtl_.control; ++clock) {
      if (clock > 100'000)
        differ(place_, "what was answered", under_way_.size(), 0);
      step();
    }
    expect(place_, "under way when idle", under_way_.size() + asked_arms_.size() + controls_.size(), 0);
    expect(place_, "entries too many", host_.entries_left(), 0);
    // Each period that is over by now is found: the RTL counts it from the access, at most longest_period
    // clocks ago.
    const uint64_t over = now_;
    for (uint32_t clock = 0; clock < completion_queues * 10 + longest_period; ++clock)
      step();
    for (auto& [number, queue] : live_)
      if (!queue.failed)
        expect(place_, "a period that is over is not found", queue.model->queue.next_deadline() <= over, 0);
  }

  // A queue with room, whose accesses all succeed.
  void create_good(uint32_t number) {
    CompletionControl control{
        .create = true, .number = number, .function = number % completion_functions, .entries_log2 = 11};
    control.table = pages_.make_table(control.function, number, control.entries_log2, true);
    put(control);
    come_to_rest();
  }
  void destroy_good(uint32_t number) {
    put(CompletionControl{.destroy = true, .number = number, .function = number % completion_functions});
    come_to_rest();
  }
  void write_good(uint32_t number) {
    CompletionWrite write = stream_.some_write(number);
    write.function = number % completion_functions;
    put(write);
  }

  // Writes entries at full speed, in turn to this many queues.
  void stream(uint32_t to) {
    constexpr uint32_t count = 1000;
    host_.pace = {.ready = 100, .latency = 200, .is_smooth = true};
    to = std::min(to, used_completion_queues);
    for (uint32_t number = 1; number <= to; ++number)
      create_good(number);
    uint32_t offered = 0;
    uint64_t first = 0;
    const uint64_t begin = now_;
    while (offered < count || !rtl_.idle || rtl_.write) {
      if (!rtl_.write && offered < count)
        write_good(1 + offered++ % to);
      step();
      if (first == 0 && rtl_.piece)
        first = now_ - begin;
    }
    std::printf("%u entries to %u queues: %llu clocks, the first after %llu\n", count, to,
                number(now_ - begin), number(first));
    for (uint32_t number = 1; number <= to; ++number)
      destroy_good(number);
  }

  // The period of a queue ends while its entry, which will not arrive, is in flight.
  void lose() {
    constexpr uint32_t number = completion_queues - 1;
    constexpr unsigned function = number % completion_functions;
    host_.pace = {.ready = 100, .latency = 400, .is_smooth = true};
    create_good(number);
    put(CompletionControl{
        .moderate = true, .number = number, .function = function, .count = 7, .period = 50});
    come_to_rest();
    CompletionArm arm{.function = function};
    arm.request.set_completion_queue(number);
    put(arm);
    come_to_rest();
    host_.pace.lost = 1000;
    write_good(number);
    come_to_rest();
    expect(place_, "queue whose entry was lost", live_.at(number).failed, 1);
    host_.pace.lost = 0;
    destroy_good(number);
  }

  // Entries occupy all slots but a few, while the host answers nothing.
  void fill() {
    constexpr size_t spare_slots = 4;
    constexpr uint32_t number = completion_queues - 1; // unused by all other tests
    host_.pace = {.ready = 100, .latency = 1, .is_smooth = true};
    create_good(number);
    host_.pace.ready = 0;
    const size_t before = under_way_.size();
    for (uint32_t clock = 0; clock < ENTRIES * 16; ++clock) {
      if (!rtl_.write)
        write_good(number);
      step();
    }
    const size_t slots = under_way_.size() - before;
    if (slots + spare_slots < ENTRIES)
      differ(place_, "entries that find a slot", slots, ENTRIES - spare_slots);
    host_.pace.ready = 100;
    come_to_rest();
    destroy_good(number);
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  CompletionPages pages_;
  uint64_t now_ = 1000;
  uint32_t next_user_ = 0;
  LiveQueues live_;
  CompletionHost host_{place_, random_, pages_, live_};
  CompletionStream stream_{random_, pages_, live_};
  CompletionWrite offered_write_;
  CompletionArm offered_arm_;
  CompletionControl offered_control_;
  std::map<uint32_t, CompletionWrite> under_way_;                       // by user
  std::map<std::pair<uint32_t, unsigned>, std::deque<uint32_t>> order_; // users, by number and function
  std::deque<CompletionArm> asked_arms_;
  std::deque<CompletionControl> controls_;
  std::vector<spec::EventUnit> events_;
  std::vector<uint32_t> failed_;
  uint64_t writes_ = 0;
  uint64_t dropped_ = 0;
  uint64_t waited_ = 0;
  uint64_t arms_ = 0;
  uint64_t signals_ = 0;
  uint64_t moderated_ = 0;
  uint64_t failures_ = 0;
  uint64_t commands_ = 0;
  uint64_t not_done_ = 0;
  uint64_t in_use_ = 0; // queues that were not destroyed because an entry waited
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  return fpga_verbs::bench::run_bench<fpga_verbs::bench::Bench>(count, arguments);
}
