#pragma once

#include "destination_traffic.h"
#include "manager_port_host.h"

#include "spec/enums.h"
#include "spec/registers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {

// A resource manager that creates, changes, quiesces and destroys queue pairs only by the registers of the
// control port, and does the same in the device model. A change takes effect in the model when the RTL has
// accepted its command, before the model parses any packet that ends later. If the effect in the RTL may come
// later, both states are permitted until the answer (pending).
template <class Rtl> class QueuePairsManager {
public:
  using Command = spec::ManagerCommand;
  using QueuePair = DestinationTraffic::QueuePair;

  // The entry of the directory at an index, as far as it was answered.
  struct Known {
    uint32_t number = 0;
    unsigned underlying_function = 0;
    bool is_live = false;
    bool is_quiet = false; // no packet reaches it until it is resumed
    bool was_resumed = false;
  };
  struct Pending {
    uint32_t number = 0;
    bool quiesces = false; // otherwise resumes
    bool destroys = false;
  };
  static constexpr uint32_t contexts = CONTEXTS;
  static constexpr uint32_t control_rows = spec::QueuePairControl::bytes / 64;
  static constexpr uint32_t clocks_between = 80; // more than a packet takes from its number to its pin

  QueuePairsManager(Random& random, const Place& place, DestinationModel& model, DestinationTraffic& traffic,
                    Rtl& rtl, std::function<void()> changed, std::function<uint32_t(uint32_t)> references)
      : host(random), random_(random), place_(place), model_(model), traffic_(traffic), rtl_(rtl),
        changed_(std::move(changed)), references_(std::move(references)) {}

  ManagerHost<Rtl> host;
  uint64_t commands = 0;
  uint64_t destroyed = 0;
  uint64_t destroys_refused = 0;
  uint64_t quiets = 0;
  uint64_t failures = 0;
  uint64_t last_change = 0; // clock of the newest change of a context

  const Known& known(uint32_t number) const { return known_[number & (contexts - 1)]; }
  const std::optional<Pending>& pending() const { return pending_; }
  // Its time-wait has ended in the model; the RTL may not know it yet.
  bool is_ending(uint32_t known_as) const { return std::ranges::count(ending_, known_as) != 0; }
  bool is_idle() const { return plan_.empty() && !host.writes() && !host.reads() && !failing_; }

  // All entries of a port's tables.
  void plan_tables(unsigned port) {
    for (unsigned function = 0; function < DestinationModel::functions; ++function) {
      plan_identifier(port, function);
      for (uint32_t index = 0; index < spec::gid_table_entries; ++index)
        plan_gid(port, function, index);
    }
    for (uint32_t index = 0; index < spec::partition_key_table_entries; ++index)
      plan_partition_key(port, index);
  }

  // Before a clock: selects the next step.
  void go_on(uint64_t now, bool begins, bool waits) {
    now_ = now;
    if (std::exchange(is_fail_taken_, false))
      rtl_.fail = rtl_.fail_enters_error = 0;
    if (host.writes() || host.reads() || failing_ || now < wait_until_)
      return;
    if (plan_.empty() && begins) {
      wait_until_ = now + clocks_between / 4;
      choose();
    }
    if (plan_.empty() || now < wait_until_)
      return;
    const auto next = std::move(plan_.front());
    plan_.pop_front();
    waits_ = waits;
    next();
  }

  // In a clock, before its edge.
  void take() {
    take_failure();
    host.take(rtl_);
    if (at_taken_ && host.is_write_taken()) {
      note_change();
      std::exchange(at_taken_, nullptr)();
      changed_();
    }
    if (const auto written = host.take_written(place_, rtl_)) {
      expect(place_, "response to a write", written->response, 0);
      if (std::exchange(is_command_, false))
        note_change();
    }
    if (const auto read = host.take_read(place_, rtl_)) {
      expect(place_, "response to a read", read->response, 0);
      if (at_read_)
        std::exchange(at_read_, nullptr)(read->value);
    }
  }

private:
  using Status = spec::manager_port::Status;

  // Steps.

  void plan_write(uint32_t address, uint32_t value) {
    plan_.push_back([=, this] { host.begin_write(rtl_, {.address = address, .value = value}); });
  }
  void plan_data(std::span<const uint8_t> bytes) {
    for (uint32_t at = 0; at < bytes.size(); at += 4) {
      uint32_t word = 0;
      std::memcpy(&word, &bytes[at], std::min<size_t>(4, bytes.size() - at));
      plan_write(spec::manager_port::data + at, word);
    }
  }
  void plan_subject(uint32_t number, unsigned function) {
    spec::manager_port::Subject subject;
    subject.set_number(number);
    subject.set_underlying_function(function);
    plan_write(spec::manager_port::subject, subject.bits);
  }
  void plan_place(uint32_t index, unsigned port) {
    spec::manager_port::Place place;
    place.set_index(index);
    place.set_port(port);
    plan_write(spec::manager_port::place, place.bits);
  }
  // A command to execute: calls at_taken when it begins, at_status with its answer.
  void plan_command(Command command, std::function<void()> at_taken,
                    std::function<void(Status)> at_status = nullptr) {
    plan_.push_back([=, this] {
      at_taken_ = at_taken;
      is_command_ = true;
      ++commands;
      host.begin_write(rtl_,
                       {.address = spec::manager_port::command, .value = static_cast<uint32_t>(command)});
    });
    plan_.push_back([=, this] {
      at_read_ = [=, this](uint32_t bits) {
        Status status;
        status.bits = bits;
        if (at_status)
          at_status(status);
        else
          expect(place_, "done", status.done(), 1);
        if (waits_)
          wait_until_ = now_ + clocks_between;
      };
      host.begin_read(rtl_, {.address = spec::manager_port::status});
    });
  }

  // Tables.

  void plan_identifier(unsigned port, unsigned function) {
    const uint16_t identifier = model_.attributes.local_identifier(port, function);
    plan_data(std::array{static_cast<uint8_t>(identifier), static_cast<uint8_t>(identifier >> 8)});
    plan_subject(0, function);
    plan_place(0, port);
    plan_command(Command::set_local_identifier, nullptr);
  }
  void plan_gid(unsigned port, unsigned function, uint32_t index) {
    const wire::Gid gid = random_.once(8) ? wire::Gid{} : some_gid(random_, random_.once(2));
    plan_data(gid);
    plan_subject(0, function);
    plan_place(index, port);
    plan_command(Command::set_gid, [=, this] { model_.attributes.set_gid(port, function, index, gid); });
  }
  void plan_partition_key(unsigned port, uint32_t index) {
    const auto key = static_cast<uint16_t>(random_.once(8) ? random_.below(2) << 15 : random_.bits());
    plan_data(std::array{static_cast<uint8_t>(key), static_cast<uint8_t>(key >> 8)});
    plan_place(index, port);
    plan_command(Command::set_partition_key,
                 [=, this] { model_.attributes.set_partition_key(port, index, key); });
  }

  // Queue pairs.

  void choose() {
    end_time_waits();
    if (traffic_.live.empty() || (traffic_.live.size() < 4 && random_.once(2)))
      return create();
    QueuePair& queue_pair = traffic_.some_queue_pair();
    switch (random_.below(10)) {
    case 0:
    case 1:
      return traffic_.live.size() < 6 || random_.once(8) ? create() : destroy(queue_pair);
    case 2:
      return destroy(queue_pair);
    case 3:
    case 4:
      return destroy_when_quiet(queue_pair);
    case 5:
      return renumber(queue_pair);
    case 6:
      return quiesce(queue_pair, !queue_pair.is_quiescing);
    case 7:
      return fail(queue_pair);
    case 8:
      return plan_partition_key(1 + random_.below(spec::ports),
                                random_.below(spec::partition_key_table_entries));
    default:
      return plan_gid(1 + random_.below(spec::ports), random_.below(DestinationModel::functions),
                      random_.below(spec::gid_table_entries));
    }
  }

  void end_time_waits() {
    model_.clock.pass(random_.below(1000) * uint64_t{1'000'000});
    std::erase_if(traffic_.waiting, [&](uint32_t known_as) {
      if (model_.numbers.is_waiting(known_as))
        return false;
      ending_.push_back(known_as);
      plan_subject(known_as, 0);
      plan_command(Command::end_time_wait, [=, this] { std::erase(ending_, known_as); });
      return true;
    });
    changed_();
  }

  void plan_control(uint32_t number, const spec::QueuePairControl& control, bool is_in_model) {
    for (uint32_t row = control_rows; row-- != 0;) {
      std::array<uint8_t, 64> bytes;
      std::memcpy(bytes.data(), reinterpret_cast<const uint8_t*>(&control) + row * 64, 64);
      plan_data(bytes);
      plan_subject(number, 0);
      plan_place(row, 1);
      plan_command(Command::write_context, [=, this] {
        if (is_in_model)
          std::memcpy(reinterpret_cast<uint8_t*>(own_control(number)) + row * 64, bytes.data(), 64);
      });
    }
  }
  spec::QueuePairControl* own_control(uint32_t number) {
    return &model_.queue_pairs.parts(owner_[number & (contexts - 1)], number)->control;
  }

  void create() {
    const auto can_give = [&](uint32_t known_as) {
      return model_.numbers.can_give(known_as) && !is_ending(known_as);
    };
    if (!model_.queue_pairs.choose_number(can_give))
      return;
    const unsigned function = random_.below(DestinationModel::functions);
    const spec::QueuePairControl control = traffic_.some_control();
    const uint32_t created = *model_.queue_pairs.create(function, control);
    owner_[created & (contexts - 1)] = function;
    model_.numbers.give(created, function, created);
    model_.numbers.describe(created, control);
    plan_control(created, *own_control(created), false);
    plan_subject(created, function);
    plan_command(Command::create, nullptr, [=, this](Status status) {
      expect(place_, "created", status.done(), 1);
      expect(place_, "owner of a queue pair", status.underlying_function(), function);
      known_[created & (contexts - 1)] = {
          .number = created, .underlying_function = function, .is_live = true};
      traffic_.live.push_back({.number = created, .known_as = created, .underlying_function = function});
    });
    // One in eight is not connected yet.
    if (!random_.once(8))
      bind(created, created);
  }

  QueuePair* find(uint32_t number) {
    const auto found = std::ranges::find(traffic_.live, number, &QueuePair::number);
    return found == traffic_.live.end() ? nullptr : &*found;
  }

  void bind(uint32_t known_as, uint32_t number) {
    plan_data(std::array{static_cast<uint8_t>(number), static_cast<uint8_t>(number >> 8),
                         static_cast<uint8_t>(number >> 16)});
    plan_subject(known_as, 0);
    plan_command(Command::bind_number, [=, this] {
      model_.numbers.bind(known_as);
      find(number)->is_bound = true;
    });
  }

  // A bound number enters time-wait when it is unbound. The wait is reported first, so that the number is
  // never unknown.
  void unbind(const QueuePair& queue_pair) {
    const uint32_t known_as = queue_pair.known_as;
    const uint32_t number = queue_pair.number;
    if (queue_pair.is_bound) {
      plan_subject(known_as, 0);
      plan_command(Command::begin_time_wait, nullptr);
    }
    plan_subject(known_as, 0);
    plan_command(Command::unbind_number, [=, this] {
      const bool was_bound = std::exchange(find(number)->is_bound, false);
      model_.numbers.end(known_as, hca::VirtualQueuePairs::Keep::no);
      model_.templates.forget(number);
      traffic_.give_up(known_as);
      if (!was_bound)
        return;
      if (model_.numbers.is_waiting(known_as))
        traffic_.waiting.push_back(known_as);
      else
        ending_.push_back(known_as);
    });
    if (queue_pair.is_bound)
      plan_.push_back([=, this] {
        if (!is_ending(known_as))
          return;
        plan_subject(known_as, 0);
        plan_command(Command::end_time_wait, [=, this] { std::erase(ending_, known_as); });
      });
  }

  void quiesce(const QueuePair& queue_pair, bool quiesces) {
    const uint32_t number = queue_pair.number;
    plan_subject(number, 0);
    plan_command(
        quiesces ? Command::quiesce : Command::resume,
        [=, this] {
          pending_ = {.number = number, .quiesces = quiesces};
          known_[number & (contexts - 1)].is_quiet = false;
          known_[number & (contexts - 1)].was_resumed |= !quiesces;
        },
        [=, this](Status status) {
          pending_.reset();
          expect(place_, "done", status.done(), 1);
          expect(place_, "quiescing", status.quiescing(), quiesces);
          if (quiesces)
            model_.queue_pairs.quiesce(number);
          else
            model_.queue_pairs.resume(number);
          model_.queue_pairs.take_quiet();
          find(number)->is_quiescing = quiesces;
          known_[number & (contexts - 1)].is_quiet = quiesces && status.pins() == 0;
          if (quiesces)
            expect(place_, "pins are as many as references", status.pins() >= references_(number), 1);
        });
  }

  // Possible only while no data unit refers to the queue pair; packets reach it until then.
  void plan_destroy(uint32_t number) {
    plan_subject(number, 0);
    plan_command(
        Command::destroy, [=, this] { pending_ = {.number = number, .destroys = true}; },
        [=, this](Status status) {
          pending_.reset();
          if (!status.done()) {
            expect(place_, "pins of one that is not destroyed", status.pins() != 0, 1);
            expect(place_, "one that is quiet is destroyed", known(number).is_quiet, 0);
            ++destroys_refused;
            return;
          }
          const QueuePair gone = *find(number);
          known_[number & (contexts - 1)].is_live = false;
          expect(place_, "references to one that is destroyed", references_(number), 0);
          ++destroyed;
          model_.queue_pairs.destroy(number);
          std::erase_if(traffic_.live, [=](const QueuePair& each) { return each.number == number; });
          changed_();
          // A number that is still bound enters time-wait when its queue pair is destroyed; the RTL gets the
          // command for it last.
          if (gone.is_bound)
            end_number(gone.known_as, number);
        });
  }
  void end_number(uint32_t known_as, uint32_t number) {
    plan_subject(known_as, 0);
    plan_command(Command::unbind_number, [=, this] {
      model_.numbers.end(known_as, hca::VirtualQueuePairs::Keep::no);
      model_.templates.forget(number);
      traffic_.give_up(known_as);
      if (model_.numbers.is_waiting(known_as))
        ending_.push_back(known_as);
    });
    plan_.push_back([=, this] {
      if (!is_ending(known_as))
        return;
      plan_subject(known_as, 0);
      plan_command(Command::begin_time_wait, [=, this] {
        std::erase(ending_, known_as);
        traffic_.waiting.push_back(known_as);
      });
    });
  }

  // Sometimes a queue pair to which packets refer.
  void destroy(const QueuePair& queue_pair) {
    const auto found = std::ranges::find_if(
        traffic_.live, [&](const QueuePair& each) { return references_(each.number) != 0; });
    if (found != traffic_.live.end() && references_(queue_pair.number) == 0 && random_.once(2))
      return destroy(*found);
    if (random_.once(2))
      unbind(queue_pair);
    plan_destroy(queue_pair.number);
  }
  void destroy_when_quiet(const QueuePair& queue_pair) {
    if (!queue_pair.is_quiescing)
      quiesce(queue_pair, true);
    if (queue_pair.is_bound)
      unbind(queue_pair);
    await_quiet(queue_pair.number);
    plan_destroy(queue_pair.number);
  }
  void await_quiet(uint32_t number) {
    plan_.push_back([=, this] {
      if (known(number).is_quiet)
        return;
      at_read_ = [=, this](uint32_t bits) { take_quiet(bits); };
      host.begin_read(rtl_, {.address = spec::manager_port::quiet});
      const size_t others = plan_.size();
      plan_subject(number, 0);
      plan_command(Command::look, nullptr, [=, this](Status status) {
        expect(place_, "done", status.done(), 1);
        known_[number & (contexts - 1)].is_quiet = status.quiescing() && status.pins() == 0;
      });
      await_quiet(number);
      std::rotate(plan_.begin(), plan_.begin() + static_cast<ptrdiff_t>(others), plan_.end());
    });
  }
  void take_quiet(uint32_t bits) {
    spec::manager_port::Quiet quiet;
    quiet.bits = bits;
    if (!quiet.valid())
      return;
    ++quiets;
    const auto number = static_cast<uint32_t>(quiet.number());
    // A resumed queue pair may have become quiet before.
    Known& known = known_[number & (contexts - 1)];
    if (known.number != number || !known.is_live || known.was_resumed)
      return;
    expect(place_, "references to one that is quiet", references_(number), 0);
    known.is_quiet = true;
  }

  // Connects it again, to another peer, with another number.
  void renumber(const QueuePair& queue_pair) {
    const auto another = model_.numbers.another(queue_pair.known_as, queue_pair.number);
    if (!another || is_ending(*another))
      return;
    const uint32_t number = queue_pair.number;
    unbind(queue_pair);
    spec::QueuePairControl control = traffic_.some_control();
    const spec::QueuePairControl& before = *own_control(number);
    control.set_valid(1);
    control.set_generation(before.generation());
    control.set_underlying_function(before.underlying_function());
    plan_control(number, control, true);
    plan_.push_back([=, this] {
      model_.numbers.give(*another, queue_pair.underlying_function, number);
      model_.numbers.describe(*another, control);
      find(number)->known_as = *another;
    });
    bind(*another, number);
  }

  // A work request of the function's queue pair fails; or of another function's, which has no effect.
  void fail(const QueuePair& queue_pair) {
    const uint32_t number = queue_pair.number;
    const unsigned function =
        random_.once(3) ? random_.below(DestinationModel::functions) : queue_pair.underlying_function;
    plan_.push_back([=, this] {
      rtl_.fail = rtl_.fail_enters_error = 1;
      rtl_.fail_number = number;
      rtl_.fail_underlying_function = function;
      failing_ = {.number = number, .underlying_function = function};
      note_change();
    });
    read_context(queue_pair);
  }
  void take_failure() {
    is_fail_taken_ = rtl_.fail && rtl_.fail_ready;
    if (!rtl_.failed)
      return;
    expect(place_, "a failure", failing_.has_value(), 1);
    const bool done = model_.queue_pairs.enter_error(failing_->underlying_function, failing_->number);
    expect(place_, "a failure is done", rtl_.failed_done, done);
    failures += done;
    failing_.reset();
    note_change();
  }
  void note_change() { last_change = now_; }

  // Rows of the control part must be as written.
  void read_context(const QueuePair& queue_pair) {
    const uint32_t number = queue_pair.number;
    const uint32_t row = random_.below(control_rows);
    plan_subject(number, 0);
    plan_place(row, 1);
    plan_command(Command::read_context, nullptr);
    for (uint32_t word = 0; word < 16; ++word)
      plan_.push_back([=, this] {
        uint32_t expected = 0;
        std::memcpy(&expected, reinterpret_cast<const uint8_t*>(own_control(number)) + row * 64 + word * 4,
                    4);
        at_read_ = [=, this](uint32_t bits) { expect(place_, "word of a context", bits, expected); };
        host.begin_read(rtl_, {.address = spec::manager_port::data + word * 4});
      });
  }

  Random& random_;
  const Place& place_;
  DestinationModel& model_;
  DestinationTraffic& traffic_;
  Rtl& rtl_;
  std::function<void()> changed_;                // packets in flight may find this change from now on
  std::function<uint32_t(uint32_t)> references_; // of later blocks to a queue pair of this number
  std::deque<std::function<void()>> plan_;
  std::function<void()> at_taken_;
  std::function<void(uint32_t)> at_read_;
  bool is_command_ = false;
  bool waits_ = false;
  uint64_t now_ = 0;
  uint64_t wait_until_ = 0;
  std::optional<Pending> pending_;
  std::optional<Known> failing_;
  bool is_fail_taken_ = false;
  std::vector<Known> known_ = std::vector<Known>(contexts);
  std::array<unsigned, contexts> owner_{};
  std::vector<uint32_t> ending_;
};

} // namespace fpga_verbs::bench
