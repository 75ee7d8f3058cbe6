#include "process/prompt_end.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <sys/time.h>
#include <unistd.h>

namespace fpga_verbs::process {

namespace {

// A terminal and an intermediate program (npm, npx) may each forward the same key press.
constexpr int64_t same_press = 100; // milliseconds

struct Promise {
  itimerval rest = {};
  std::string last_words;
  int exit_code = 1;
  struct sigaction interrupt = {}; // as they were before
  struct sigaction terminate = {};
  std::atomic<int64_t> asked{0}; // when, milliseconds; 0: not yet
};

Promise* promise = nullptr; // made once, and kept: a handler may run until the process is gone

// Signal handlers call all functions below, so these use only async-signal-safe system calls.

int64_t now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

[[noreturn]] void end() {
  const std::string& words = promise->last_words;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
  _exit(promise->exit_code);
}

void on_rest_over(int) { end(); }

void on_signal(int number, siginfo_t* information, void* context) {
  const int error = errno;
  int64_t before = 0;
  const int64_t time = now();
  if (promise->asked.compare_exchange_strong(before, time))
    setitimer(ITIMER_REAL, &promise->rest, nullptr);
  else if (time - before > same_press)
    end();
  const struct sigaction& former = number == SIGINT ? promise->interrupt : promise->terminate;
  if ((former.sa_flags & SA_SIGINFO) != 0)
    former.sa_sigaction(number, information, context);
  else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN)
    former.sa_handler(number);
  errno = error;
}

} // namespace

void promise_prompt_end(unsigned milliseconds, std::string last_words, int exit_code) {
  if (promise != nullptr)
    return;
  promise = new Promise;
  promise->rest.it_value = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
  promise->last_words = std::move(last_words);
  promise->exit_code = exit_code;
  struct sigaction rest_over = {};
  rest_over.sa_handler = on_rest_over;
  sigaction(SIGALRM, &rest_over, nullptr);
  struct sigaction asked = {};
  asked.sa_sigaction = on_signal;
  asked.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&asked.sa_mask);
  sigaction(SIGINT, &asked, &promise->interrupt);
  sigaction(SIGTERM, &asked, &promise->terminate);
}

} // namespace fpga_verbs::process
