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

// The threads that advance a board. Thread-safe.
class Progress {
public:
  virtual ~Progress() = default;

  // After something was put into the ring.
  virtual void posted() = 0;

  // Lets the device consume, because the ring is full.
  virtual void make_room() = 0;

  // Lets the device work where polling drives it; `has_arrived`: a link has something of which it may not
  // have told yet. False: there was nothing to do, or it works on its own.
  virtual bool poll(bool has_arrived) = 0;

  // Where time passes only when it is told to: until the device has something to do next, if it has nothing
  // to do now.
  virtual void let_time_pass() {}

  // The device is noted to have something at a port.
  virtual void attend(Attendance attendance) = 0;

  // Waits for the answer of a read that was put into the ring, and gives it.
  uint32_t wait_for(const ReadAnswer& answer);

  // Begins and ends a time in which the caller alone has the device; not on a data path.
  virtual void begin_exclusive() = 0;
  virtual void end_exclusive() = 0;

protected:
  // Lets the device come nearer to an answer.
  virtual void approach() = 0;
};

// Holds the device for the time of a scope.
class Exclusive {
public:
  explicit Exclusive(Progress& progress) : progress_(progress) { progress_.begin_exclusive(); }
  ~Exclusive() { progress_.end_exclusive(); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

private:
  Progress& progress_;
};

// Posting, polling and reading advance the device on the calling thread: CallerDrive.
class SharedProgress final : public Progress {
public:
  SharedProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock, Wakeups& wakeups);
  ~SharedProgress() override;
  void posted() override;
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
    // Work that a caller does at once before it leaves the rest to the thread: enough for any batch, and well
    // under a millisecond.
    static constexpr uint64_t work_of_a_caller = 1024;
    static constexpr uint64_t work_of_the_thread = 4096;
    static constexpr uint64_t a_while = 200'000; // ns within which a caller that polls is back
    // Packets that the device sends to boards of other threads or of this one are taken there on this thread
    // too.
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
  // `cpu`: the CPU that the thread is pinned to; negative: none. `sleep_after`: nanoseconds without work
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

// No thread, and virtual time: every unit of work takes a tick, and nothing happens unless it is asked for.
// Boards of one group are stepped together, whichever of them is asked.
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

  // Does up to `count` ticks of work; gives the number done. Fewer: idle.
  uint64_t step(uint64_t count);

  // Moves the clock to `time`, doing what there is to do and what becomes due before it, at its time. False:
  // that takes more than `limit` ticks of work and waits, and the clock stays where they ended.
  bool advance_to(uint64_t time, uint64_t limit = no_limit);

  void let_time_pass() override;

  // Plays a transaction of a recording at its time, or now where that has passed; DeviceSide::play.
  bool play(const Transaction& transaction);

private:
  void approach() override;
  bool advance_held_to(uint64_t time, uint64_t limit);
  void end_of_play();

  DeviceSide& device_;
  Wakeups& wakeups_;
  std::shared_ptr<StepGroup> group_;
  bool played_ = false; // a transaction was played in this tick: others may be, but no work is done
};

} // namespace fpga_verbs::board
