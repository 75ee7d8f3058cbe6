#pragma once

#include "board/watches.h"
#include "served/served_source.h"
#include "served/shared_function.h"
#include "served/shared_management.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace fpga_verbs::served {

// The observation of a function, through the process that has it open, on any backend; with the control
// function, of all functions. Kick records come from the function's ring and events from a separate event
// queue; the device writes both only while a watch is active. Management commands read objects and registers
// of functions.
class SharedObservation final : public board::WatchKeeper,
                                public std::enable_shared_from_this<SharedObservation> {
public:
  // Takes over the function's management queues, on the thread of its driver. Null: `failure` gives the
  // reason.
  static std::shared_ptr<SharedObservation> make(std::shared_ptr<board::BoardFunction> function,
                                                 unsigned underlying_function, std::string& failure);
  ~SharedObservation() override;

  SharedFunction& function() { return function_; }
  SharedManagement& management() { return management_; }

  // Whether this object serves observers of a function.
  bool observes(unsigned underlying_function) const {
    return underlying_function < function_.functions() &&
           (function_.underlying_function() == 0 || underlying_function == function_.underlying_function());
  }

  // Null: the device cannot be watched for this kind, or memory or an event queue is missing.
  std::unique_ptr<board::BoardWatch> watch(unsigned underlying_function, board::WatchKind kind);
  void pause_watch(unsigned underlying_function, board::WatchKind kind) override;
  void resume_watch(unsigned underlying_function, board::WatchKind kind) override;
  std::optional<board::WatchMemory> end_watch(unsigned underlying_function, board::WatchKind kind) override;

  // Passes on new records of the device. False: there were none.
  bool take();
  bool watches() const { return kicks_on_ || events_on_; }
  // Stops serving a device that does not answer.
  void lose() { is_gone_.store(true, std::memory_order_relaxed); }
  bool is_gone() const { return is_gone_.load(std::memory_order_relaxed); }

private:
  SharedObservation(std::shared_ptr<board::BoardFunction> function, unsigned underlying_function)
      : function_(std::move(function), underlying_function), management_(function_) {}

  bool follow_watches();
  void start_kicks();
  void stop_kicks();
  bool start_events();
  void stop_events();
  bool take_kicks();
  bool take_events();

  SharedFunction function_;
  SharedManagement management_;
  board::Watches watches_;
  SharedFunctionMemory kicks_;
  SharedFunctionMemory events_;
  SharedFunctionMemory heads_; // of kicks, of events
  uint32_t kicks_taken_ = 0;
  uint32_t kicks_dropped_ = 0;
  uint32_t events_taken_ = 0;
  bool kicks_on_ = false;
  bool events_on_ = false;
  unsigned takes_ = 0;
  std::atomic<bool> is_gone_{false};
};

// The source through which a server serves the observation.
class SharedObservationSource final : public ServedSource {
public:
  explicit SharedObservationSource(std::shared_ptr<SharedObservation> observation)
      : observation_(std::move(observation)) {}

  unsigned functions() const override { return observation_->function().functions(); }
  std::unique_ptr<board::ObserverView> observe(unsigned underlying_function) override;
  unsigned first_observed() const override { return observation_->function().underlying_function(); }
  bool advance() override;
  bool is_gone() const override { return observation_->is_gone(); }
  int sleep_limit() const override { return observation_->watches() ? 1 : -1; }

private:
  std::shared_ptr<SharedObservation> observation_;
  uint64_t taken_at_ = 0; // board::HostTime
};

} // namespace fpga_verbs::served
