#pragma once

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <ucontext.h>
#include <unordered_map>
#include <vector>

namespace fpga_verbs::interleavings {

// Threads of a program to be checked, and its properties. Constructed anew for each run, always in the same
// way, on atomics of CheckedPlatform. State outside atomics must be constant, or follow from what its thread
// has read.
class Program {
public:
  virtual ~Program() = default;
  virtual std::vector<std::function<void()>> threads() = 0;
  // Called in a state in which no thread can continue, except by the passing of time: returns the error, or
  // null.
  virtual const char* wrong_at_rest() const = 0;
  // State outside of atomics and threads: clocks, consumed entries.
  virtual uint64_t state() const = 0;
};

// How a thread waits, for Program::wrong_at_rest().
enum class Waiting : uint8_t { no, finished, for_time, for_ever };

// Runs a program in all its interleavings: every order of the operations of its threads on memory, with a
// store buffer for each thread. A store that is not sequentially consistent reaches memory at any time later,
// a relaxed one before others of its thread, a release one after all before it; loads read their own buffer
// first. A sequentially consistent store, an exchange and a system call wait until the buffer is empty. (What
// processors do beyond that, loads that overtake loads, is not explored.)
//
// Runs are repeated with the same choices up to the last that has an alternative. A state that was there is
// not explored again: memory, buffers, and of each thread what it has read since it began, from which its
// state follows.
class Explorer {
public:
  struct Result {
    std::string failure; // with the steps that lead to it; empty: none
    size_t states = 0;
    size_t runs = 0;
  };

  static Explorer& here();

  // Explores all interleavings of a program, or until one is wrong. A state that cannot reach an end is an
  // error too. For a waiting thread, time passes when no other thread can continue, and `early` times before.
  Result explore(const std::function<std::unique_ptr<Program>()>& make, unsigned early = 1);

  // For atomics: a location, identified by the order of construction.
  unsigned add_location(uint64_t value);
  enum class Order : uint8_t { relaxed, release, total };
  uint64_t load(unsigned location);
  void store(unsigned location, uint64_t value, Order order);
  // Reads the location, and writes what `change` returns for it.
  uint64_t exchange(unsigned location, const std::function<uint64_t(uint64_t)>& change);
  void wait(unsigned location, uint64_t value, uint64_t deadline);
  void wake(unsigned location);
  uint64_t history() const;
  // Begins an iteration of a loop: of all that the thread has read before, only `state` still matters.
  void again(uint64_t history_before, uint64_t state);
  // The thread has read state outside of atomics.
  void observe(uint64_t value);

  // The clock of the program.
  uint64_t now() const { return now_; }
  Waiting waiting(size_t thread) const;
  uint64_t deadline(size_t thread) const { return threads_[thread].deadline; }
  // The content of memory; only at rest.
  uint64_t value(unsigned location) const { return memory_[location]; }
  // The program is wrong in this state.
  void fail(const char* what);

private:
  static constexpr size_t most_threads = 6;
  static constexpr size_t stack_bytes = 64 << 10;

  enum class State : uint8_t { ready, waiting, finished };
  struct Buffered {
    unsigned location;
    uint64_t value;
    bool release;
  };
  struct Thread {
    State state = State::ready;
    bool needs_empty_buffer = false; // for its next operation
    unsigned location = 0;           // that it waits on
    uint64_t deadline = 0;
    uint64_t history = 0;
    std::vector<Buffered> buffer;
    std::function<void()> run;
    ucontext_t begin = {};
    std::jmp_buf at = {};
    bool begun = false;
  };
  enum class Step : uint8_t { run, drain, time };
  struct Choice {
    Step step;
    uint8_t thread;
    uint8_t entry; // of the buffer
  };
  struct Branch {
    unsigned chosen = 0;
    unsigned choices = 0;
    uint32_t state = 0;
  };

  void begin_run(Program& program);
  void run_once(Program& program);
  std::vector<Choice> choices(bool& at_rest) const;
  void take(const Choice& choice, bool at_rest);
  void resume(Thread& thread);
  void operation(bool needs_empty_buffer);
  void note(const char* what, unsigned location, uint64_t value);
  uint64_t hash(const Program& program) const;
  void reach(uint64_t hash, bool& is_new, uint32_t& state);
  bool backtrack();
  std::string steps() const;
  std::string unending();
  static void trampoline();

  std::vector<uint64_t> memory_;
  std::array<Thread, most_threads> threads_;
  size_t thread_count_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> stacks_;
  Thread* current_ = nullptr;
  std::jmp_buf scheduler_ = {};
  uint64_t now_ = 0;
  unsigned most_early_ = 0;
  unsigned early_ = 0; // number of times that time has passed while threads could continue
  std::vector<Branch> path_;
  std::vector<std::string> trace_;
  bool traces_ = false;
  const char* failed_ = nullptr;
  std::unordered_map<uint64_t, uint32_t> known_; // states, numbered
  std::vector<std::pair<uint32_t, uint32_t>> edges_;
  std::vector<uint32_t> ends_;
};

} // namespace fpga_verbs::interleavings
