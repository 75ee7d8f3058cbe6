// completion_queue beside the device model: entries, armings and commands for queues that are created, moved
// and destroyed as a seed has it, some of which overrun or cannot be reached; the host answers when it likes.
// RTL answers in the order in which things take effect, and each queue's model does them in that order.
// Arguments: seed, clocks.
//
// First entries as fast as they go, to one queue and to eight, of which it prints how many clocks they take.
#include "Vcompletion_queue.h"
#include "completion_queue_model.h"

#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <algorithm>
#include <cstdio>
#include <span>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vcompletion_queue;

constexpr uint32_t beat_bytes = BEAT_BYTES;
constexpr uint32_t queues = QUEUES;
constexpr uint32_t functions = 8;
constexpr uint32_t used_numbers = std::min(queues - 1, 12U); // that have queues, from 1 on
constexpr uint32_t none = ~0U;
enum class Kind : uint8_t { sweep, write, arm, control };

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks)
      : random_(seed), place_{.seed = seed}, clocks_(clocks), pages_(random_) {}

  int run() {
    start_anew();
    stream(1);
    stream(8);
    for (; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock % 256 == 0)
        choose_weights();
      if (place_.clock % 4096 == 4095)
        come_to_rest();
      offer();
      step();
    }
    come_to_rest();
    std::printf("%llu entries in %llu clocks, %llu dropped, %llu waited, %llu armings, %llu events, "
                "%llu moderated, %llu failures, %llu commands, %llu not done\n",
                number(writes_), number(clocks_), number(dropped_), number(waited_), number(arms_),
                number(signals_), number(moderated_), number(failures_), number(commands_),
                number(not_done_));
    return 0;
  }

private:
  struct Queue {
    std::unique_ptr<ModelQueue> model;
    unsigned function = 0;
    uint32_t table = 0;
    uint32_t head = 0;   // what the host has taken
    uint32_t events = 0; // that the host has taken
    bool failed = false;
    uint64_t failed_at = 0; // clock of the answer
  };
  struct Write {
    uint32_t number = 0;
    unsigned function = 0;
    spec::CompletionQueueEntry entry;
    uint64_t time = 0;
  };
  struct Arm {
    unsigned function = 0;
    spec::underlying_function::CompletionQueueArm request;
    uint64_t time = 0;
  };
  struct Control {
    bool create = false;
    bool resize = false;
    bool moderate = false;
    bool destroy = false;
    uint32_t number = 0;
    unsigned function = 0;
    unsigned entries_log2 = 0;
    uint32_t table = none;
    uint8_t event_queue = 0;
    uint64_t user_handle = 0;
    uint32_t count = 0;
    uint32_t period = 0;
    uint64_t time = 0;
  };
  struct Translation {
    std::optional<uint64_t> address;
    uint64_t due = 0;
  };
  struct HeadRead {
    ModelQueue::Head head;
    uint64_t due = 0;
  };
  struct PieceAnswer {
    bool failed = false;
    uint64_t due = 0;
  };

  static unsigned long long number(uint64_t value) { return value; }
  static uint64_t head_address(uint32_t number) { return 0x7ff'ffff'f000 + number * 64; }

  void choose_weights() {
    write_ = std::array{0U, 30U, 100U, 100U}[random_.below(4)];
    arm_ = std::array{0U, 10U, 60U}[random_.below(3)];
    control_ = std::array{5U, 60U}[random_.below(2)];
    consume_ = std::array{1U, 10U, 100U}[random_.below(3)];
    ready_ = std::array{20U, 80U, 100U}[random_.below(3)];
    latency_ = std::array{1U, 20U, 150U}[random_.below(3)];
    focus_ = random_.once(2) ? used_numbers : 1 + random_.below(3);
  }

  void start_anew() {
    rtl_.reset = 1;
    rtl_.write = rtl_.arm = rtl_.control = rtl_.translated = rtl_.read_answer = rtl_.piece_answer = 0;
    rtl_.event_ready = 1;
    step();
    step();
    rtl_.reset = 0;
    for (uint32_t clock = 0; clock < std::max<uint32_t>(queues, ENTRIES) + 8; ++clock)
      step();
    expect(place_, "clearing", rtl_.clearing, 0);
  }

  // Stimulus.

  uint32_t some_number() {
    if (random_.once(24))
      return std::array{0U, queues + 1 + random_.below(used_numbers),
                        1 + random_.below(queues - 1)}[random_.below(3)];
    return 1 + random_.below(focus_);
  }
  unsigned function_of(uint32_t number) {
    const auto found = live_.find(number);
    return found == live_.end() || random_.once(48) ? random_.below(functions) : found->second.function;
  }

  void offer() {
    for (auto& [number, queue] : live_)
      if (random_.percent(consume_) && queue.head != queue.model->queue.tail(ModelQueue::number))
        ++queue.head;
    rtl_.event_ready = random_.percent(ready_);
    if (!rtl_.write && random_.percent(write_))
      offer_write(some_number());
    if (!rtl_.arm && random_.percent(arm_))
      offer_arm();
    if (!rtl_.control && controls_.empty() && random_.percent(control_))
      offer_control();
  }

  void offer_write(uint32_t queue) {
    offered_write_ = {.number = queue, .function = function_of(queue)};
    std::array<uint8_t, entry_bytes> bytes;
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>(random_.bits());
    bytes[1] = random_.once(8) ? 1 + bytes[1] % 8 : 0; // status
    std::memcpy(&offered_write_.entry, bytes.data(), bytes.size());
    rtl_.write = 1;
    rtl_.write_number = queue;
    rtl_.write_underlying_function = offered_write_.function;
    rtl_.write_user = next_user_;
    std::memcpy(&rtl_.write_entry, bytes.data(), bytes.size());
  }

  void offer_arm() {
    const uint32_t number = some_number();
    offered_arm_ = {.function = function_of(number)};
    const auto found = live_.find(number);
    auto& request = offered_arm_.request;
    request.set_completion_queue(number);
    request.set_solicited(random_.below(2));
    request.set_arm_sequence(random_.once(12)       ? random_.below(128)
                             : found != live_.end() ? found->second.events
                                                    : 0);
    request.set_head(found == live_.end()
                         ? random_.below(8)
                         : found->second.head + (random_.once(8) ? random_.below(9) - 4 : 0));
    rtl_.arm = 1;
    rtl_.arm_underlying_function = offered_arm_.function;
    rtl_.arm_request = request.bits;
  }

  void offer_control() {
    Control control{.number = some_number()};
    const auto found = live_.find(control.number);
    control.function = function_of(control.number);
    control.entries_log2 = random_.once(12) ? 15 : random_.once(4) ? random_.below(10) : random_.below(4);
    if (found == live_.end() || random_.once(16)) {
      control.create = true;
      if (control.number == 0 || control.number > used_numbers)
        return;
      control.event_queue = static_cast<uint8_t>(random_.bits());
      control.user_handle = random_.bits() & 0xffff'ffff'ffff;
    } else if (found->second.failed ? !random_.once(4) : random_.once(12)) {
      control.destroy = true;
    } else {
      control.resize = random_.once(3);
      control.moderate = !control.resize && !random_.once(4);
      control.count = random_.below(8);
      control.period = std::array{0U, 50U, 200U, 500U}[random_.below(4)];
    }
    if (control.create || control.resize)
      control.table = pages_.make_table(control.function, control.number, control.entries_log2, false);
    put(control);
  }

  void put(const Control& control) {
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
    rtl_.control_head_address = head_address(control.number);
    rtl_.control_moderation_count = control.count;
    rtl_.control_moderation_ticks = control.period;
    offered_control_ = control;
  }

  // A clock.

  void step() {
    rtl_.now = now_;
    serve();
    rtl_.clock = 0;
    rtl_.eval();
    const bool writes = rtl_.write && rtl_.write_ready;
    const bool arms = rtl_.arm && rtl_.arm_ready;
    const bool controls = rtl_.control && rtl_.control_ready;
    if (!rtl_.reset)
      take();
    if (writes) {
      offered_write_.time = now_;
      expect(place_, "users under way", under_way_.contains(rtl_.write_user), 0);
      under_way_[rtl_.write_user] = offered_write_;
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

  // The answers of the surroundings in this clock.
  void serve() {
    rtl_.translate_ready = random_.percent(ready_);
    rtl_.read_ready = random_.percent(ready_);
    rtl_.piece_ready = random_.percent(ready_);
    rtl_.data_ready = random_.percent(ready_);
    rtl_.translated = !translations_.empty() && translations_.front().due <= now_ && random_.percent(ready_);
    if (rtl_.translated) {
      rtl_.translated_done = translations_.front().address.has_value();
      rtl_.translated_page = translations_.front().address.value_or(0) / spec::page_bytes;
      translations_.pop_front();
    }
    rtl_.read_answer = !reads_.empty() && reads_.front().due <= now_ && random_.percent(ready_);
    if (rtl_.read_answer) {
      rtl_.read_answer_failed = reads_.front().head.failed;
      rtl_.read_answer_head = reads_.front().head.head | random_.bits() << 32;
      reads_.pop_front();
    }
    rtl_.piece_answer =
        !piece_answers_.empty() && piece_answers_.front().due <= now_ && random_.percent(ready_);
    if (rtl_.piece_answer) {
      rtl_.piece_answer_failed = piece_answers_.front().failed;
      piece_answers_.pop_front();
    }
  }

  void take() {
    if (rtl_.translate && rtl_.translate_ready)
      translations_.push_back(
          {.address = pages_.translation().translate(rtl_.translate_page_table,
                                                     uint64_t{rtl_.translate_page} * spec::page_bytes),
           .due = now_ + 1 + (is_smooth_ ? 3 : random_.below(latency_))});
    if (rtl_.read && rtl_.read_ready)
      read_head();
    if (rtl_.piece && rtl_.piece_ready)
      addresses_.push_back({.function = rtl_.piece_underlying_function, .address = rtl_.piece_address});
    if (rtl_.data_valid && rtl_.data_ready) {
      const auto* data = reinterpret_cast<const uint8_t*>(&rtl_.data);
      data_.insert(data_.end(), data, data + beat_bytes);
    }
    if (!addresses_.empty() && data_.size() >= entry_bytes)
      write_piece();
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

  void read_head() {
    const auto number = static_cast<uint32_t>((rtl_.read_address - head_address(0)) / 64);
    // A queue may have its first entry before its creation is answered.
    const auto queue = live_.find(number);
    if (queue != live_.end())
      expect(place_, "function of a head that is read", rtl_.read_underlying_function,
             queue->second.function);
    ModelQueue::Head head{.head = queue == live_.end() ? 0 : queue->second.head,
                          .failed = !is_smooth_ && random_.once(200)};
    if (!is_smooth_ && random_.once(20))
      head.head += random_.below(40) - 20;
    heads_[number].push_back(head);
    reads_.push_back({.head = head, .due = now_ + 1 + (is_smooth_ ? latency_ : random_.below(latency_))});
  }

  void write_piece() {
    WrittenEntry piece = addresses_.front();
    addresses_.pop_front();
    std::copy_n(data_.begin(), entry_bytes, piece.bytes.begin());
    data_.erase(data_.begin(), data_.begin() + entry_bytes);
    piece.failed = !pages_.can_write(piece.function, piece.address);
    pieces_.push_back(piece);
    piece_answers_.push_back(
        {.failed = piece.failed, .due = now_ + 1 + (is_smooth_ ? latency_ : random_.below(latency_))});
  }

  Queue& at(uint32_t number, const char* what) {
    const auto found = live_.find(number);
    if (found == live_.end())
      differ(place_, what, number, 0);
    return found->second;
  }
  Queue* find(uint32_t number, unsigned function) {
    const auto found = live_.find(number);
    return found == live_.end() || found->second.function != function ? nullptr : &found->second;
  }

  // Answers.

  void compare() {
    const uint32_t number = rtl_.answered_number;
    bool failed_before = false;
    Queue* queue = nullptr;
    switch (static_cast<Kind>(rtl_.answered_kind)) {
    case Kind::sweep:
      queue = &at(number, "queue whose period is over");
      expect(place_, "a queue in error is signaled", queue->failed, 0);
      expect(place_, "a period is over", queue->model->queue.next_deadline() <= now_, 1);
      queue->model->time = now_;
      // The model's scan may have to end and begin again.
      for (uint32_t turn = 0; turn < 3 && queue->model->events.empty(); ++turn)
        queue->model->queue.step();
      ++moderated_;
      break;
    case Kind::write: {
      const auto found = under_way_.find(rtl_.answered_user);
      if (found == under_way_.end())
        differ(place_, "entries under way", 1, 0);
      const Write write = found->second;
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

  void compare_write(const Write& write, Queue* queue) {
    ++writes_;
    waited_ += rtl_.answered_waited;
    bool done = false;
    // RTL may have written entries behind the one that failed.
    const bool has_piece =
        !pieces_.empty() && queue != nullptr && pages_.number(pieces_.front().address) == write.number;
    if (queue != nullptr && queue->failed) {
      expect(place_, "an entry is written to a queue in error", has_piece && write.time > queue->failed_at,
             0);
      if (has_piece)
        pieces_.pop_front();
      if (rtl_.answered_waited)
        take_head(write.number);
    } else if (queue != nullptr) {
      ModelQueue& model = *queue->model;
      model.time = now_;
      if (has_piece) {
        spec::CompletionQueueEntry entry;
        std::memcpy(&entry, pieces_.front().bytes.data(), entry_bytes);
        model.time = entry.timestamp();
        expect(place_, "a time stamp is between entry and answer",
               model.time >= write.time && model.time <= now_, 1);
      }
      if (rtl_.answered_waited)
        model.head = take_head(write.number);
      spec::CompletionQueueEntry entry = write.entry;
      done = model.queue.write(write.function, ModelQueue::number, entry);
      model.head.reset();
      if (model.written)
        compare_piece(*model.written);
      model.written.reset();
    }
    dropped_ += !done;
    expect(place_, "entry written", rtl_.answered_done, done);
  }

  ModelQueue::Head take_head(uint32_t number) {
    if (heads_[number].empty())
      differ(place_, "heads that were read", 1, 0);
    const ModelQueue::Head head = heads_[number].front();
    heads_[number].pop_front();
    return head;
  }

  void compare_piece(const WrittenEntry& model) {
    if (pieces_.empty())
      differ(place_, "entries that were written", 0, 1);
    const WrittenEntry& piece = pieces_.front();
    expect(place_, "function of a write", piece.function, model.function);
    expect(place_, "address of a write", piece.address, model.address);
    for (uint32_t byte = 0; byte < entry_bytes; ++byte)
      if (piece.bytes[byte] != model.bytes[byte])
        differ(place_, "byte of an entry", uint64_t{piece.bytes[byte]} << 32 | byte,
               uint64_t{model.bytes[byte]} << 32 | byte);
    pieces_.pop_front();
  }

  Queue* compare_arm() {
    if (asked_arms_.empty())
      differ(place_, "armings under way", 1, 0);
    Arm arm = asked_arms_.front();
    asked_arms_.pop_front();
    ++arms_;
    expect(place_, "number of an arming", rtl_.answered_number, arm.request.completion_queue());
    Queue* const queue = find(arm.request.completion_queue(), arm.function);
    expect(place_, "armed", rtl_.answered_done, queue != nullptr);
    if (queue == nullptr || queue->failed)
      return queue;
    arm.request.set_completion_queue(ModelQueue::number);
    queue->model->time = arm.time;
    queue->model->queue.arm(arm.function, arm.request);
    return queue;
  }

  Queue* compare_control() {
    if (controls_.empty())
      differ(place_, "commands under way", 1, 0);
    Control control = controls_.front();
    controls_.pop_front();
    ++commands_;
    not_done_ += !rtl_.answered_done;
    expect(place_, "number of a command", rtl_.answered_number, control.number);
    Queue* queue = find(control.number, control.function);
    if (control.create) {
      const bool done = !live_.contains(control.number);
      expect(place_, "created", rtl_.answered_done, done);
      if (!done) {
        pages_.translation().destroy_table(control.table);
        return queue;
      }
      live_.try_emplace(control.number, Queue{.model = std::make_unique<ModelQueue>(
                                                  place_, pages_, control.function, control.entries_log2,
                                                  head_address(control.number), control.user_handle,
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

  void compare_resize(const Control& control, Queue& queue) {
    if (rtl_.answered_waited)
      queue.model->head = take_head(control.number);
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

  // A queue that an entry waits for stays.
  Queue* end(const Control& control, Queue& queue) {
    if (!rtl_.answered_done) {
      const bool is_waited_for = std::ranges::any_of(
          under_way_, [&](const auto& write) { return write.second.number == control.number; });
      expect(place_, "why it is not destroyed", rtl_.answered_status,
             static_cast<uint32_t>(spec::ManagementStatus::in_use));
      expect(place_, "an entry waits", is_waited_for, 1);
      return &queue;
    }
    expect(place_, "events of the destroyed", events_.size(), 0);
    pages_.translation().destroy_table(queue.table);
    live_.erase(control.number);
    return nullptr;
  }

  void compare_events(uint32_t number, Queue* queue, bool failed_before) {
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
    expect(place_, "entries too many", pieces_.size() + addresses_.size() + data_.size(), 0);
    // Each period that is over by now is found.
    const uint64_t over = now_;
    for (uint32_t clock = 0; clock < queues * 10 + 100; ++clock)
      step();
    for (auto& [number, queue] : live_)
      if (!queue.failed)
        expect(place_, "a period that is over is not found", queue.model->queue.next_deadline() <= over, 0);
  }

  // Entries as fast as they go, in turn to so many queues.
  void stream(uint32_t to) {
    constexpr uint32_t count = 1000;
    is_smooth_ = true;
    ready_ = consume_ = 100;
    latency_ = 200;
    for (uint32_t queue = 1; queue <= std::min(to, used_numbers); ++queue) {
      Control control{.create = true, .number = queue, .function = queue % functions, .entries_log2 = 11};
      control.table = pages_.make_table(control.function, queue, control.entries_log2, true);
      put(control);
      come_to_rest();
    }
    uint32_t offered = 0;
    uint64_t first = 0;
    const uint64_t begin = now_;
    while (offered < count || !rtl_.idle || rtl_.write) {
      if (!rtl_.write && offered < count) {
        const uint32_t number = 1 + offered % std::min(to, used_numbers);
        offer_write(number);
        rtl_.write_underlying_function = offered_write_.function = number % functions;
        ++offered;
      }
      step();
      if (first == 0 && rtl_.piece)
        first = now_ - begin;
    }
    std::printf("%u entries to %u queues: %llu clocks, the first after %llu\n", count, to,
                number(now_ - begin), number(first));
    for (uint32_t queue = 1; queue <= std::min(to, used_numbers); ++queue) {
      put({.destroy = true, .number = queue, .function = queue % functions});
      come_to_rest();
    }
    is_smooth_ = false;
  }

  Rtl rtl_;
  Random random_;
  Place place_;
  uint64_t clocks_;
  CompletionPages pages_;
  uint64_t now_ = 1000;
  bool is_smooth_ = false;
  uint32_t write_ = 0;
  uint32_t arm_ = 0;
  uint32_t control_ = 0;
  uint32_t consume_ = 100;
  uint32_t ready_ = 100;
  uint32_t latency_ = 1;
  uint32_t focus_ = 1;
  uint32_t next_user_ = 0;
  std::map<uint32_t, Queue> live_;
  std::map<uint32_t, std::deque<ModelQueue::Head>> heads_; // that were read, by number
  Write offered_write_;
  Arm offered_arm_;
  Control offered_control_;
  std::map<uint32_t, Write> under_way_; // by user
  std::deque<Arm> asked_arms_;
  std::deque<Control> controls_;
  std::deque<Translation> translations_;
  std::deque<HeadRead> reads_;
  std::deque<PieceAnswer> piece_answers_;
  std::deque<WrittenEntry> addresses_; // of pieces without all of their data
  std::deque<uint8_t> data_;
  std::deque<WrittenEntry> pieces_; // that the model has not written
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
  return bench.run();
}
