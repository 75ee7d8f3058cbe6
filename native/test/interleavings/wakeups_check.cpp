// Explores the interleavings of the threads around an emulated board, which post, poll, deliver packets,
// change the device and close the board, with the device's thread. Prints a line for each program; exit code
// 1: one is wrong.
#include "board/caller_drive.h"
#include "board/thread_drive.h"
#include "test/interleavings/checked_board.h"

#include <chrono>
#include <cstdio>
#include <cstring>

namespace fpga_verbs::interleavings {

namespace {

using board::Attendance;

// The threads of a program, besides the device's; each number counts threads.
struct Cast {
  const char* name;
  unsigned posters = 0; // each posts a message
  bool timer = false;   // which sets a timer of the device
  unsigned packets = 0; // that a link delivers and signals
  unsigned polls = 0;
  bool has_arrived = false; // a packet that the link does not signal
  bool changes = false;     // a thread changes the device under the lock
  bool closes = false;
  unsigned early = 1;    // Explorer::explore
  bool is_large = false; // left out for a device that callers drive
};

constexpr Cast casts[] = {
    {.name = "a poster", .posters = 1},
    {.name = "a poster whose message sets a timer", .posters = 1, .timer = true},
    {.name = "two posters", .posters = 2, .early = 0},
    {.name = "a link", .packets = 2},
    {.name = "a link and a poller", .packets = 1, .polls = 1},
    {.name = "a link and a poller that polls twice", .packets = 1, .polls = 2, .early = 0, .is_large = true},
    {.name = "a poster and a link", .posters = 1, .packets = 1},
    {.name = "a poster and a poller", .posters = 1, .polls = 1},
    {.name = "a poster, and a poller that finds a packet",
     .posters = 1,
     .polls = 1,
     .has_arrived = true,
     .early = 0},
    {.name = "a change under the lock", .changes = true},
    {.name = "a poster and a change under the lock", .posters = 1, .changes = true, .early = 0},
    {.name = "a link and a change under the lock",
     .packets = 1,
     .changes = true,
     .early = 0,
     .is_large = true},
    {.name = "an end", .closes = true},
};

class Board : public Program {
public:
  explicit Board(const Cast& cast) : cast_(cast), link_(cast.has_arrived ? 1 : 0) {}

  uint64_t state() const override { return device_.state(); }

  std::vector<std::function<void()>> threads() override {
    std::vector<std::function<void()>> threads{[this] { run(); }};
    for (unsigned poster = 0; poster < cast_.posters; ++poster)
      threads.emplace_back([this] {
        const uint32_t data = cast_.timer ? CheckedDevice::sets_timer : 0;
        while (!ring_.push_write(0, 0, 0, &data, sizeof data))
          Explorer::here().fail("the ring is full");
        posted();
      });
    if (cast_.packets != 0)
      threads.emplace_back([this] {
        for (unsigned packet = 0; packet < cast_.packets; ++packet) {
          link_.arrive();
          wakeups_.note([this] { attend(); });
        }
      });
    if (cast_.polls != 0)
      threads.emplace_back([this] {
        for (unsigned poll = 0; poll < cast_.polls; ++poll)
          this->poll(link_.has_arrived());
      });
    if (cast_.changes)
      threads.emplace_back([this] { change(); });
    if (cast_.closes)
      threads.emplace_back([this] { wakeups_.stop(); });
    return threads;
  }

  const char* wrong_at_rest() const override {
    const Explorer& explorer = Explorer::here();
    for (size_t thread = 1; explorer.waiting(thread) != Waiting::no && thread < threads_of(cast_); ++thread)
      if (explorer.waiting(thread) != Waiting::finished)
        return "a caller waits";
    if (cast_.closes)
      return explorer.waiting(0) == Waiting::finished ? nullptr : "the thread sleeps although the board goes";
    // A thread that leaves work to callers looks again after a while.
    const uint64_t sleeps_until =
        explorer.waiting(0) == Waiting::for_ever ? ~uint64_t{0} : explorer.deadline(0);
    const uint64_t now = explorer.now();
    const uint64_t time_left = sleeps_until > now ? sleeps_until - now : 0;
    if (device_.taken() != cast_.posters && time_left > CheckedParts::a_while)
      return "a message lies in the ring, and the thread sleeps";
    if (!link_.is_empty() && time_left > CheckedParts::a_while)
      return "a packet lies on the link, and the thread sleeps";
    const uint64_t deadline = device_.next_deadline();
    if (deadline != CheckedDevice::no_deadline &&
        sleeps_until > std::max(deadline, now + CheckedParts::a_while))
      return "the thread sleeps beyond a deadline";
    return nullptr;
  }

  static size_t threads_of(const Cast& cast) {
    return 1 + cast.posters + (cast.packets != 0) + (cast.polls != 0) + cast.changes + cast.closes;
  }

protected:
  virtual void run() = 0;
  virtual void posted() = 0;
  virtual void poll(bool has_arrived) = 0;
  virtual void attend() = 0; // what a link does
  virtual void change() = 0;

  const Cast& cast_;
  CheckedClock clock_;
  CheckedRing ring_;
  CheckedLink link_;
  CheckedWakeups wakeups_;
  CheckedDevice device_{ring_, link_, clock_, wakeups_};
};

class OwnBoard final : public Board {
public:
  using Board::Board;

private:
  void run() override { drive_.run(); }
  void posted() override { wakeups_.wake(); }
  void poll(bool has_arrived) override { drive_.poll(has_arrived); }
  void attend() override { wakeups_.wake(); }
  void change() override {
    drive_.begin_exclusive();
    device_.set_timer();
    drive_.end_exclusive();
  }

  board::ThreadDrive<CheckedParts> drive_{device_, ring_, clock_, wakeups_, 0};
};

class SharedBoard : public Board {
public:
  using Board::Board;

protected:
  void run() override { drive_.run(); }
  void posted() override { drive_.drive(); }
  void poll(bool has_arrived) override { drive_.poll(has_arrived); }
  void attend() override { drive_.attend(Attendance::wake); }
  void change() override {
    drive_.begin_exclusive();
    device_.set_timer();
    drive_.end_exclusive();
  }

  board::CallerDrive<CheckedParts> drive_{device_, ring_, clock_, wakeups_};
};

// Posters leave their messages to their next call, which does not come.
class LeavingBoard final : public SharedBoard {
public:
  using SharedBoard::SharedBoard;

private:
  void posted() override {
    if (!drive_.leave_command())
      drive_.drive();
  }
};

template <class Made> bool check(const char* progress, bool leaves_out_large, const char* wanted) {
  bool right = true;
  for (const Cast& cast : casts) {
    const std::string name = std::string(progress) + ", " + cast.name;
    if (wanted != nullptr ? name != wanted : leaves_out_large && cast.is_large)
      continue;
    const auto begin = std::chrono::steady_clock::now();
    const Explorer::Result result = Explorer::here().explore(
        [&]() -> std::unique_ptr<Program> { return std::make_unique<Made>(cast); }, cast.early);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%s: %zu states, %zu runs, %.1f s: %s\n", name.c_str(), result.states, result.runs,
                took.count(), result.failure.empty() ? "right" : result.failure.c_str());
    std::fflush(stdout);
    right = right && result.failure.empty();
  }
  return right;
}

} // namespace

} // namespace fpga_verbs::interleavings

// The name of one program, or all.
int main(int count, char** arguments) {
  using namespace fpga_verbs::interleavings;
  const char* const wanted = count > 1 ? arguments[1] : nullptr;
  const bool own = check<OwnBoard>("own", false, wanted);
  const bool shared = check<SharedBoard>("shared", true, wanted);
  const bool leaving = check<LeavingBoard>("leaving", true, wanted);
  return own && shared && leaving ? 0 : 1;
}
