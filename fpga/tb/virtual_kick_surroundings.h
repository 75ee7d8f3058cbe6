#pragma once

#include "bench.h"
#include "hca/kick/virtual_kick.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The surroundings of virtual_kick in its bench: its shape, its reset, and the data units at its ports.
namespace fpga_verbs::bench {

constexpr uint32_t functions = UNDERLYING_FUNCTIONS;
constexpr uint32_t lanes = TRANSMIT_VIRTUAL_LANES;
constexpr uint32_t entries = ENTRIES;
constexpr uint32_t queue_pairs = QUEUE_PAIRS;
constexpr uint32_t ports = 3;
constexpr uint32_t unit_dwords = 4;
constexpr uint64_t all_lanes = lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;

constexpr uint32_t stages = 8;

// A kick in the stages; the lanes at the time of its second stage.
struct Stage {
  spec::KickUnit kick;
  bool scheduled = false;
  bool pinned = false;
  bool alone = false; // no other kick has been in the stages for a while
  uint64_t own = 0;
  uint64_t shared = 0;
  uint64_t idle = 0;
  std::array<uint32_t, lanes> loads{};
};

// The state in each of the last clocks: a bit for each lane or function.
class Recent {
public:
  void note(uint64_t now) {
    for (size_t age = bits_.size() - 1; age != 0; --age)
      bits_[age] = bits_[age - 1];
    bits_[0] = now;
  }
  bool ever(uint32_t number) const {
    uint64_t any = 0;
    for (const uint64_t bits : bits_)
      any |= bits;
    return (any >> number & 1) != 0;
  }
  bool always(uint32_t number) const {
    uint64_t all = ~uint64_t{0};
    for (const uint64_t bits : bits_)
      all &= bits;
    return (all >> number & 1) != 0;
  }

private:
  std::array<uint64_t, 8> bits_{};
};
struct Running {
  spec::KickUnit kick;
  uint32_t port = 0; // on which it will finish
  bool sent = false; // its execution credit has returned
};
struct Weights {
  uint32_t kick = 0;
  uint32_t finish = 0;
  uint32_t credit = 0;
  uint32_t queue_pairs = 1;
};

class NoHost final : public hca::HostPort {
public:
  hca::DmaStatus read(unsigned, uint64_t, void*, size_t) override { std::abort(); }
  hca::DmaStatus write(unsigned, uint64_t, const void*, size_t) override { std::abort(); }
  void interrupt(unsigned, unsigned) override { std::abort(); }
};

class NoEvents final : public hca::EventPort {
public:
  void report(const spec::EventUnit&) override { std::abort(); }
};

class NoTime final : public hca::Clock {
public:
  uint64_t now() const override { return 0; }
};

template <class Wide, class Unit> void put(Wide& wide, const Unit& unit, uint32_t at) {
  for (uint32_t dword = 0; dword < unit_dwords; ++dword)
    wide[at * unit_dwords + dword] = unit.dwords[dword];
}
template <class Unit, class Wide> Unit get(const Wide& wide) {
  Unit unit;
  for (uint32_t dword = 0; dword < unit_dwords; ++dword)
    unit.dwords[dword] = wide[dword];
  return unit;
}

inline spec::FinishUnit finish_of(const spec::KickUnit& kick, bool execution, bool completion) {
  spec::FinishUnit unit;
  unit.set_physical_collect_buffer(kick.physical_collect_buffer());
  unit.set_transmit_virtual_lane(kick.transmit_virtual_lane());
  unit.set_underlying_function(kick.underlying_function());
  unit.set_quality_of_service_level(kick.quality_of_service_level());
  unit.set_queue_pair_number(kick.queue_pair_number());
  unit.set_execution_credit_shared(kick.execution_credit_shared());
  unit.set_completion_credit_shared(kick.completion_credit_shared());
  unit.set_execution_credit_returned(execution);
  unit.set_completion_credit_returned(completion);
  unit.set_finished(completion);
  return unit;
}

template <class Rtl> void tick(Rtl& rtl) {
  rtl.clock = 0;
  rtl.eval();
  rtl.clock = 1;
  rtl.eval();
}

// The block accepts nothing until its memories are cleared.
template <class Rtl> void start_anew(Rtl& rtl) {
  rtl.reset = 1;
  rtl.kick_scheduled = rtl.kick_collected = rtl.finish = 0;
  rtl.set_lanes = rtl.set_shared_lanes = rtl.set_entry_credits = rtl.set_list_size = 0;
  rtl.invalidate_lanes = rtl.fetched_lanes = rtl.drop = 0;
  rtl.set_execution_credits = rtl.set_completion_credits = 0;
  rtl.set_shared_execution_credits = rtl.set_shared_completion_credits = 0;
  for (uint32_t clock = 0; clock < 2; ++clock)
    tick(rtl);
  rtl.reset = 0;
  for (uint32_t clock = 0; clock < queue_pairs; ++clock) {
    rtl.kick_collected = 1;
    rtl.clock = 0;
    rtl.eval();
    expect({}, "kick taken while the memories are cleared", rtl.kick_collected_ready, 0);
    tick(rtl);
  }
  // The lists may have more entries.
  for (rtl.eval(); !rtl.kick_collected_ready; rtl.eval())
    tick(rtl);
  rtl.kick_collected = 0;
}

inline hca::HcaParameters model_parameters() {
  hca::HcaParameters parameters;
  parameters.underlying_functions = functions;
  parameters.transmit_virtual_lanes = lanes;
  parameters.physical_collect_buffers = 1;
  parameters.dedicated_physical_collect_buffers = entries - 1;
  parameters.management_physical_collect_buffers = 0;
  parameters.queue_pairs = queue_pairs;
  parameters.execution_credits_per_lane = EXECUTION_CREDITS_PER_LANE;
  parameters.completion_credits_per_lane = COMPLETION_CREDITS_PER_LANE;
  parameters.shared_execution_credits = SHARED_EXECUTION_CREDITS;
  parameters.shared_completion_credits = SHARED_COMPLETION_CREDITS;
  parameters.shared_execution_credits_cap = SHARED_EXECUTION_CREDITS_CAP;
  parameters.shared_completion_credits_cap = SHARED_COMPLETION_CREDITS_CAP;
  return parameters;
}

// Sometimes other list sizes, and another division of credits.
template <class Rtl> void divide_some(Rtl& rtl, Random& random) {
  rtl.set_list_size = random.once(100);
  rtl.set_list_size_lane = static_cast<uint8_t>(random.below(lanes));
  rtl.set_list_size_commands = static_cast<uint8_t>(random.once(2) ? 1 + random.below(3) : entries);
  rtl.set_execution_credits = random.once(50);
  rtl.set_completion_credits = random.once(50);
  rtl.set_credits_lane = static_cast<uint8_t>(random.below(lanes));
  rtl.set_credits_own = static_cast<uint8_t>(random.below(2 * EXECUTION_CREDITS_PER_LANE + 1));
  rtl.set_credits_shared_cap = static_cast<uint8_t>(random.below(SHARED_COMPLETION_CREDITS_CAP + 1));
  rtl.set_shared_execution_credits = random.once(100);
  rtl.set_shared_completion_credits = random.once(100);
  rtl.set_shared_credits = static_cast<uint8_t>(random.below(SHARED_EXECUTION_CREDITS + 1));
  rtl.set_entry_credits = random.once(200);
  rtl.set_entry_credits_underlying_function = static_cast<uint8_t>(random.below(functions));
  rtl.set_entry_credits_credits =
      static_cast<uint8_t>(random.once(2) ? 1 + random.below(entries / 2) : entries);
}

} // namespace fpga_verbs::bench
