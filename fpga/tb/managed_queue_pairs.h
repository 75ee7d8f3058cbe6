#pragma once

#include "bench.h"
#include "destination_queue_pairs.h"

#include "spec/enums.h"
#include "spec/registers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {

// The device model's directory behind manager_port: commands create, quiesce, resume and destroy queue pairs,
// and traffic pins them meanwhile.
class ManagedQueuePairs {
public:
  ManagedQueuePairs(Random& random, const Place& place, DestinationModel& model)
      : random_(random), place_(place), model_(model) {}

  uint64_t pins = 0;

  bool is_empty() const { return live_.empty(); }
  uint32_t some_number() { return live_[random_.below(static_cast<uint32_t>(live_.size()))]; }
  // The number that the model would give next to an unused index; any number, if all indices are in use.
  uint32_t free_number(uint32_t contexts) {
    uint32_t found = static_cast<uint32_t>(random_.bits() & 0xff'ffff);
    model_.queue_pairs.choose_number([&](uint32_t candidate) {
      found = candidate;
      return random_.once(contexts / 2);
    });
    return found;
  }

  // A clock of traffic, with these probabilities in percent.
  void pass_traffic(uint32_t pin, uint32_t unpin) {
    if (!pinned_.empty() && random_.percent(unpin)) {
      std::swap(pinned_[random_.below(static_cast<uint32_t>(pinned_.size()))], pinned_.back());
      model_.queue_pairs.unpin(pinned_.back());
      pinned_.pop_back();
    } else if (!live_.empty() && random_.percent(pin) && pinned_.size() < 200) {
      const uint32_t queue_pair = some_number();
      if (!model_.queue_pairs.pin(queue_pair))
        return;
      pinned_.push_back(queue_pair);
      ++pins;
    }
  }

  // Executes a command, and returns the resulting status.
  spec::manager_port::Status perform(spec::ManagerCommand what, spec::manager_port::Subject subject) {
    const uint32_t queue_pair = subject.number();
    bool done = is_live(queue_pair);
    if (what == spec::ManagerCommand::create)
      done = !done && create(queue_pair, static_cast<unsigned>(subject.underlying_function()));
    else if (done && what == spec::ManagerCommand::quiesce) {
      model_.queue_pairs.quiesce(queue_pair);
      is_quiescing_[queue_pair] = true;
    } else if (done && what == spec::ManagerCommand::resume) {
      model_.queue_pairs.resume(queue_pair);
      is_quiescing_[queue_pair] = false;
    } else if (done && what == spec::ManagerCommand::destroy)
      done = model_.queue_pairs.pins(queue_pair) == 0;
    spec::manager_port::Status status;
    status.set_done(done);
    if (is_live(queue_pair)) {
      status.set_quiescing(is_quiescing_[queue_pair]);
      status.set_underlying_function(owner_[queue_pair]);
      status.set_pins(model_.queue_pairs.pins(queue_pair));
    }
    if (done && what == spec::ManagerCommand::destroy) {
      model_.queue_pairs.destroy(queue_pair);
      std::erase(live_, queue_pair);
    }
    return status;
  }

private:
  bool is_live(uint32_t queue_pair) const { return std::ranges::find(live_, queue_pair) != live_.end(); }

  bool create(uint32_t queue_pair, unsigned function) {
    if (!model_.queue_pairs.choose_number([&](uint32_t each) { return each == queue_pair; }))
      return false;
    if (model_.queue_pairs.create(function, spec::QueuePairControl{}) != queue_pair)
      differ(place_, "number of a queue pair", queue_pair, 0);
    live_.push_back(queue_pair);
    owner_[queue_pair] = function;
    is_quiescing_[queue_pair] = false;
    return true;
  }

  Random& random_;
  const Place& place_;
  DestinationModel& model_;
  std::vector<uint32_t> live_;
  std::vector<uint32_t> pinned_;
  std::map<uint32_t, unsigned> owner_;
  std::map<uint32_t, bool> is_quiescing_;
};

} // namespace fpga_verbs::bench
