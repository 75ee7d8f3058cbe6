#include "test/interleavings/explorer.h"

#include <algorithm>

namespace fpga_verbs::interleavings {

namespace {

constexpr uint32_t no_state = ~uint32_t{0};

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ (value + 0x9e37'79b9'7f4a'7c15)) * 0xbf58'476d'1ce4'e5b9;
  return hash ^ hash >> 29;
}

} // namespace

Explorer& Explorer::here() {
  static Explorer explorer;
  return explorer;
}

Explorer::Result Explorer::explore(const std::function<std::unique_ptr<Program>()>& make, unsigned early) {
  most_early_ = early;
  known_.clear();
  edges_.clear();
  ends_.clear();
  path_.clear();
  failed_ = nullptr;
  traces_ = false;
  Result result;
  do {
    memory_.clear();
    const std::unique_ptr<Program> program = make();
    begin_run(*program);
    run_once(*program);
    ++result.runs;
    if (failed_ != nullptr) {
      // Runs the same path once more to report it.
      const char* const what = failed_;
      failed_ = nullptr;
      traces_ = true;
      known_.clear();
      memory_.clear();
      const std::unique_ptr<Program> again = make();
      begin_run(*again);
      run_once(*again);
      result.failure = std::string(what) + steps();
      return result;
    }
  } while (backtrack());
  result.states = known_.size();
  result.failure = unending();
  return result;
}

void Explorer::begin_run(Program& program) {
  trace_.clear();
  now_ = 0;
  early_ = 0;
  const std::vector<std::function<void()>> runs = program.threads();
  thread_count_ = runs.size();
  for (size_t i = 0; i < thread_count_; ++i) {
    if (i == stacks_.size())
      stacks_.push_back(std::make_unique<std::byte[]>(stack_bytes));
    Thread& thread = threads_[i];
    thread.state = State::ready;
    thread.needs_empty_buffer = false;
    thread.history = i + 1;
    thread.buffer.clear();
    thread.run = runs[i];
    thread.begun = false;
  }
}

// Ends if no choice is left, if all following states are known, or if the program is wrong.
void Explorer::run_once(Program& program) {
  uint32_t before = no_state;
  for (size_t depth = 0;; ++depth) {
    bool at_rest = false;
    const std::vector<Choice> possible = choices(at_rest);
    if (at_rest && failed_ == nullptr)
      failed_ = program.wrong_at_rest();
    if (failed_ != nullptr)
      return;
    if (depth == path_.size()) {
      bool is_new = false;
      uint32_t state = 0;
      reach(hash(program), is_new, state);
      if (before != no_state)
        edges_.emplace_back(before, state);
      if (!is_new)
        return;
      if (possible.empty()) {
        ends_.push_back(state);
        return;
      }
      path_.push_back({0, static_cast<unsigned>(possible.size()), state});
    }
    before = path_[depth].state;
    take(possible[path_[depth].chosen], at_rest);
  }
}

std::vector<Explorer::Choice> Explorer::choices(bool& at_rest) const {
  std::vector<Choice> possible;
  for (uint8_t i = 0; i < thread_count_; ++i) {
    const Thread& thread = threads_[i];
    if (thread.state == State::ready && (!thread.needs_empty_buffer || thread.buffer.empty()))
      possible.push_back({Step::run, i, 0});
    if (thread.state == State::waiting && thread.deadline != ~uint64_t{0})
      possible.push_back({Step::time, i, 0});
    for (uint8_t entry = 0; entry < thread.buffer.size(); ++entry) {
      const Buffered& stored = thread.buffer[entry];
      const auto is_before = [&](const Buffered& other) {
        return stored.release || other.location == stored.location;
      };
      if (std::none_of(thread.buffer.begin(), thread.buffer.begin() + entry, is_before))
        possible.push_back({Step::drain, i, entry});
    }
  }
  const auto passes = [](const Choice& choice) { return choice.step == Step::time; };
  at_rest = std::ranges::all_of(possible, passes);
  if (!at_rest && early_ == most_early_)
    std::erase_if(possible, passes);
  return possible;
}

void Explorer::take(const Choice& choice, bool at_rest) {
  Thread& thread = threads_[choice.thread];
  current_ = &thread;
  switch (choice.step) {
  case Step::run:
    resume(thread);
    return;
  case Step::drain: {
    const Buffered stored = thread.buffer[choice.entry];
    thread.buffer.erase(thread.buffer.begin() + choice.entry);
    memory_[stored.location] = stored.value;
    note("memory sees", stored.location, stored.value);
    return;
  }
  case Step::time:
    now_ = std::max(now_, thread.deadline);
    early_ += at_rest ? 0 : 1;
    thread.state = State::ready;
    note("wakes, as time has passed to", 0, now_);
    return;
  }
}

// Fibers: created by ucontext, switched without its system calls.
void Explorer::trampoline() {
  Explorer& explorer = here();
  Thread& thread = *explorer.current_;
  thread.run();
  thread.state = State::finished;
  thread.history = 0;
  _longjmp(explorer.scheduler_, 1);
}

void Explorer::resume(Thread& thread) {
  if (_setjmp(scheduler_) != 0)
    return;
  if (thread.begun)
    _longjmp(thread.at, 1);
  thread.begun = true;
  observe(0);
  getcontext(&thread.begin);
  thread.begin.uc_stack.ss_sp = stacks_[static_cast<size_t>(&thread - threads_.data())].get();
  thread.begin.uc_stack.ss_size = stack_bytes;
  thread.begin.uc_link = nullptr;
  makecontext(&thread.begin, &Explorer::trampoline, 0);
  setcontext(&thread.begin);
}

// The thread executes its next operation when it is chosen.
void Explorer::operation(bool needs_empty_buffer) {
  current_->needs_empty_buffer = needs_empty_buffer;
  if (_setjmp(current_->at) == 0)
    _longjmp(scheduler_, 1);
}

unsigned Explorer::add_location(uint64_t value) {
  memory_.push_back(value);
  return static_cast<unsigned>(memory_.size() - 1);
}

uint64_t Explorer::load(unsigned location) {
  operation(false);
  const auto own = std::ranges::find_if(current_->buffer.rbegin(), current_->buffer.rend(),
                                        [&](const Buffered& each) { return each.location == location; });
  const uint64_t value = own == current_->buffer.rend() ? memory_[location] : own->value;
  observe(value);
  note("loads", location, value);
  return value;
}

void Explorer::store(unsigned location, uint64_t value, Order order) {
  if (order != Order::total) {
    current_->buffer.push_back({location, value, order == Order::release});
    note("stores", location, value);
    return;
  }
  operation(true);
  memory_[location] = value;
  observe(0);
  note("stores for all", location, value);
}

uint64_t Explorer::exchange(unsigned location, const std::function<uint64_t(uint64_t)>& change) {
  operation(true);
  const uint64_t value = memory_[location];
  memory_[location] = change(value);
  observe(value);
  note("exchanges", location, memory_[location]);
  return value;
}

void Explorer::wait(unsigned location, uint64_t value, uint64_t deadline) {
  operation(true);
  observe(memory_[location]);
  if (memory_[location] != value)
    return;
  note("sleeps on", location, value);
  current_->state = State::waiting;
  current_->location = location;
  current_->deadline = deadline;
  operation(false);
  observe(now_);
}

void Explorer::wake(unsigned location) {
  operation(true);
  observe(0);
  note("wakes", location, 0);
  for (size_t i = 0; i < thread_count_; ++i)
    if (threads_[i].state == State::waiting && threads_[i].location == location)
      threads_[i].state = State::ready;
}

uint64_t Explorer::history() const { return current_->history; }

void Explorer::again(uint64_t history_before, uint64_t state) {
  current_->history = mix(history_before, state);
}

void Explorer::observe(uint64_t value) { current_->history = mix(current_->history, value); }

Waiting Explorer::waiting(size_t thread) const {
  switch (threads_[thread].state) {
  case State::ready:
    return Waiting::no;
  case State::finished:
    return Waiting::finished;
  case State::waiting:
    break;
  }
  return threads_[thread].deadline == ~uint64_t{0} ? Waiting::for_ever : Waiting::for_time;
}

void Explorer::fail(const char* what) {
  if (failed_ == nullptr)
    failed_ = what;
}

void Explorer::note(const char* what, unsigned location, uint64_t value) {
  if (traces_)
    trace_.push_back("thread " + std::to_string(current_ - threads_.data()) + " " + what + " [" +
                     std::to_string(location) + "] " + std::to_string(value));
}

uint64_t Explorer::hash(const Program& program) const {
  uint64_t hash = mix(mix(program.state(), now_), early_);
  for (const uint64_t value : memory_)
    hash = mix(hash, value);
  for (size_t i = 0; i < thread_count_; ++i) {
    const Thread& thread = threads_[i];
    hash = mix(hash, thread.history);
    hash = mix(hash, static_cast<uint64_t>(thread.state));
    for (const Buffered& stored : thread.buffer)
      hash = mix(mix(hash, stored.location * 2 + (stored.release ? 1 : 0)), stored.value);
  }
  return hash;
}

void Explorer::reach(uint64_t hash, bool& is_new, uint32_t& state) {
  const auto [known, added] = known_.try_emplace(hash, static_cast<uint32_t>(known_.size()));
  is_new = added;
  state = known->second;
}

bool Explorer::backtrack() {
  while (!path_.empty() && path_.back().chosen + 1 == path_.back().choices)
    path_.pop_back();
  if (path_.empty())
    return false;
  ++path_.back().chosen;
  return true;
}

std::string Explorer::steps() const {
  std::string told;
  for (const std::string& step : trace_)
    told += "\n  " + step;
  return told;
}

// Whether there is a state that cannot reach an end.
std::string Explorer::unending() {
  std::vector<std::vector<uint32_t>> before(known_.size());
  for (const auto& [from, to] : edges_)
    before[to].push_back(from);
  std::vector<bool> ends(known_.size());
  std::vector<uint32_t> left = ends_;
  for (const uint32_t end : ends_)
    ends[end] = true;
  while (!left.empty()) {
    const uint32_t state = left.back();
    left.pop_back();
    for (const uint32_t from : before[state])
      if (!ends[from]) {
        ends[from] = true;
        left.push_back(from);
      }
  }
  const auto stuck = std::ranges::count(ends, false);
  return stuck == 0 ? "" : std::to_string(stuck) + " states from which no end is reached";
}

} // namespace fpga_verbs::interleavings
