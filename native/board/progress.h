#pragma once

#include "board/board_clock.h"
#include "board/board_lock.h"
#include "board/device_side.h"
#include "board/sleeper.h"
#include "board/step_group.h"
#include "board/transaction_ring.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace fpga_verbs::board {

// How soon a device that is not driven by a thread of its own gets to what has arrived.
enum class Attendance : uint8_t {
  drive, // the calling thread drives it now
  wake,  // its thread is woken
  leave, // the calling thread comes back to it; where it does not, the device's thread takes over in a while
};

// Who advances a board. Thread-safe.
class Progress {
public:
  virtual ~Progress() = default;

  // After something was put into the ring.
  virtual void posted() = 0;

  // Lets the device consume, because the ring is full.
  virtual void make_room() = 0;

  // Lets the device work where polling drives it. False: there was nothing to do, or it works on its own.
  virtual bool advance() = 0;

  // Something has arrived for the device other than through the ring.
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

// Posting, polling and reading advance the device on the calling thread, under a lock that is tried and never
// waited for: whoever misses it leaves its transactions to the holder. A thread that sleeps does what is left
// over and what comes due, but leaves both to callers while they keep coming: nothing crosses between CPUs
// then.
class SharedProgress final : public Progress {
public:
  SharedProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock);
  ~SharedProgress() override;
  void posted() override;
  void make_room() override;
  bool advance() override;
  void attend(Attendance attendance) override;
  void begin_exclusive() override;
  void end_exclusive() override;

private:
  void approach() override { make_room(); }
  bool work_of_caller();
  bool work(uint64_t limit);
  void announce_deadline();
  void leave_to_thread(uint64_t due);
  void wake_by(uint64_t due);
  uint64_t in_a_while() const;
  uint64_t due(uint64_t earliest) const;
  void sleep_until_due(uint64_t earliest);
  void run();

  DeviceSide& device_;
  TransactionRing& ring_;
  const HostClock& clock_;
  BoardLock lock_;
  Sleeper sleeper_;
  std::atomic<bool> visited_{false};             // by a caller, since the thread looked last
  std::atomic<uint64_t> left_over_{no_deadline}; // clock tick at which the thread takes over; 0: at once
  std::atomic<uint64_t> deadline_{no_deadline};  // clock tick; written under the lock
  std::atomic<uint64_t> sleeping_until_{0};      // clock tick; 0: the thread is awake
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The device has a thread of its own, which spins like hardware while there is traffic, and sleeps when there
// has been none for long.
class OwnProgress final : public Progress {
public:
  // `cpu`: the CPU that the thread is pinned to; negative: none.
  OwnProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock, int cpu);
  ~OwnProgress() override;
  void posted() override { sleeper_.wake(); }
  void make_room() override;
  bool advance() override { return false; }
  void attend(Attendance) override { sleeper_.wake(); }
  void begin_exclusive() override;
  void end_exclusive() override;

private:
  void approach() override;
  void run();
  void lock();
  void sleep_until_posted();

  DeviceSide& device_;
  TransactionRing& ring_;
  const HostClock& clock_;
  BoardLock lock_; // held by the thread while it is awake, but when others contend for it
  Sleeper sleeper_;
  alignas(64) std::atomic<unsigned> contenders_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// No thread, and virtual time: every unit of work takes a tick, and nothing happens unless it is asked for.
// Boards of one group are stepped together, whichever of them is asked.
class SteppedProgress final : public Progress {
public:
  static constexpr uint64_t no_limit = ~uint64_t{0};

  SteppedProgress(DeviceSide& device, std::shared_ptr<StepGroup> group);
  ~SteppedProgress() override;
  void posted() override {}
  void attend(Attendance) override {}
  void make_room() override { approach(); }
  bool advance() override { return step(1) == 1; }
  void begin_exclusive() override;
  void end_exclusive() override { group_->lock().unlock(); }

  // Does up to `count` ticks of work; gives the number done. Fewer: idle.
  uint64_t step(uint64_t count);

  // Moves the clock to `time`, doing what there is to do and what becomes due before it, at its time. False:
  // that takes more than `limit` ticks of work and waits, and the clock stays where they ended.
  bool advance_to(uint64_t time, uint64_t limit = no_limit);

  // Plays a transaction of a recording at its time, or now where that has passed; DeviceSide::play.
  bool play(const Transaction& transaction);

private:
  void approach() override;
  bool advance_held_to(uint64_t time, uint64_t limit);
  void end_of_play();

  DeviceSide& device_;
  std::shared_ptr<StepGroup> group_;
  bool played_ = false; // a transaction was played in this tick: others may be, but no work is done
};

} // namespace fpga_verbs::board
