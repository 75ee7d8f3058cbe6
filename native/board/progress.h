#pragma once

#include "board/attendance.h"
#include "board/board_clock.h"
#include "board/caller_drive.h"
#include "board/device_side.h"
#include "board/neighbors.h"
#include "board/step_group.h"
#include "board/thread_drive.h"
#include "board/transaction_ring.h"

#include <cstdint>
#include <memory>
#include <thread>

namespace fpga_verbs::board {

// The threads that run a board. Thread-safe.
class Progress {
public:
  virtual ~Progress() = default;

  // Called after a message was put into the ring.
  virtual void posted() = 0;

  // Called instead, after a command, by a caller that leaves it to its thread's next call (Neighbors). False:
  // the device does not wait for that.
  virtual bool leave_command() { return false; }

  // Makes the device consume messages because the ring is full.
  virtual void make_room() = 0;

  // Runs the device if polling drives it. `has_arrived`: a link has a packet that it may not have reported
  // yet. False: there was no work, or the device runs on its own.
  virtual bool poll(bool has_arrived) = 0;

  // On a board whose time advances only on request: advances time until the device has something to do next,
  // if it has nothing to do now.
  virtual void let_time_pass() {}

  // A port of the device has work: runs the device or wakes its thread, as `attendance` says.
  virtual void attend(Attendance attendance) = 0;

  // Waits for the answer of a read in the ring, and returns it.
  uint32_t wait_for(const ReadAnswer& answer);

  // Starts and ends exclusive access of the caller to the device; not on a data path.
  virtual void begin_exclusive() = 0;
  virtual void end_exclusive() = 0;

protected:
  // Runs or awaits the device for a step towards an answer.
  virtual void approach() = 0;
};

// Holds exclusive access to the device for a scope.
class Exclusive {
public:
  explicit Exclusive(Progress& progress) : progress_(progress) { progress_.begin_exclusive(); }
  ~Exclusive() { progress_.end_exclusive(); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

private:
  Progress& progress_;
};

// Callers that post, poll and read run the device on their thread: CallerDrive.
class SharedProgress final : public Progress {
public:
  SharedProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock, Wakeups& wakeups);
  ~SharedProgress() override;
  void posted() override;
  bool leave_command() override;
  void make_room() override;
  bool poll(bool has_arrived) override;
  void attend(Attendance attendance) override;
  void begin_exclusive() override;
  void end_exclusive() override;

private:
  struct Parts {
    using Platform = HostPlatform;
    using Device = DeviceSide;
    using Ring = TransactionRing;
    using Clock = HostClock;
    // Commands that callers pass to the device at once after the thread had to take one that was left.
    static constexpr unsigned commands_at_once = 1024;
    // Units of work that a caller does before it leaves the rest to the thread: enough for any batch, and
    // well under a millisecond.
    static constexpr uint64_t work_of_a_caller = 1024;
    static constexpr uint64_t work_of_the_thread = 4096;
    static constexpr uint64_t a_while = 200'000; // ns within which a caller that polls is back
    // This thread also delivers the packets that the device sends to boards of this or other threads.
    template <class Drive> static auto collect(Drive&& drive) { return Neighbors::here().collect(drive); }
  };

  void approach() override { make_room(); }

  Wakeups& wakeups_;
  CallerDrive<Parts> drive_;
  std::thread thread_;
};

// The device has a thread of its own: ThreadDrive.
class OwnProgress final : public Progress {
public:
  // `cpu`: the CPU to which the thread is pinned; negative: none. `sleep_after`: nanoseconds without work
  // after which it sleeps.
  OwnProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock, Wakeups& wakeups, int cpu,
              uint64_t sleep_after);
  ~OwnProgress() override;
  void posted() override { wakeups_.wake(); }
  void make_room() override { approach(); }
  bool poll(bool has_arrived) override;
  void attend(Attendance) override { wakeups_.wake(); }
  void begin_exclusive() override { drive_.begin_exclusive(); }
  void end_exclusive() override { drive_.end_exclusive(); }

private:
  struct Parts {
    using Platform = HostPlatform;
    using Device = DeviceSide;
    using Ring = TransactionRing;
    using Clock = HostClock;
    static constexpr uint64_t work_at_once = 64;
    static constexpr unsigned looks_between_clocks = 1024; // idle looks at the ring between two at the time
    static uint64_t idle_time() { return HostTime::now(); }
  };

  void approach() override;

  Wakeups& wakeups_;
  ThreadDrive<Parts> drive_;
  std::thread thread_;
};

// No thread, and virtual time: every unit of work takes one tick, and the board acts only when stepped. All
// boards of a group are stepped together.
class SteppedProgress final : public Progress {
public:
  static constexpr uint64_t no_limit = ~uint64_t{0};

  SteppedProgress(DeviceSide& device, Wakeups& wakeups, std::shared_ptr<StepGroup> group);
  ~SteppedProgress() override;
  void posted() override {}
  void attend(Attendance) override {}
  void make_room() override { approach(); }
  bool poll(bool has_arrived) override;
  void begin_exclusive() override;
  void end_exclusive() override { group_->lock().unlock(); }

  // Does up to `count` ticks of work, in each of which one block of each device processes one data unit;
  // returns the number done. If fewer, all boards are idle.
  uint64_t step(uint64_t count) { return work(count, false); }
  // The same, but a data unit continues past links that are empty, as on boards that are not stepped.
  uint64_t run(uint64_t count) { return work(count, true); }

  // Advances the clock to `time`, doing pending work and expiring timers at their time. False: that takes
  // more than `limit` ticks of work and waits; the clock stays where they ended.
  bool advance_to(uint64_t time, uint64_t limit = no_limit);

  void let_time_pass() override;

  // Replays a recorded transaction at its time, or now if that has passed; DeviceSide::play.
  bool play(const Transaction& transaction);

private:
  void approach() override;
  uint64_t work(uint64_t count, bool passes_by);
  bool advance_held_to(uint64_t time, uint64_t limit);
  void end_of_play();

  DeviceSide& device_;
  Wakeups& wakeups_;
  std::shared_ptr<StepGroup> group_;
  bool played_ = false; // a transaction was played in this tick: others may be, but no work is done
};

} // namespace fpga_verbs::board
