#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if VM_COVERAGE
#include <verilated_cov.h>
#endif

// Shared by the benches that run in lockstep with the device model.
namespace fpga_verbs::bench {

// Random numbers from a seed (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = (state_ ^ state_ >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }
  uint32_t below(uint32_t end) { return static_cast<uint32_t>((bits() >> 32) * end >> 32); }
  bool once(uint32_t times) { return below(times) == 0; }
  bool percent(uint32_t chance) { return below(100) < chance; }

private:
  uint64_t state_;
};

// Seed and clock of a run, for the message when RTL and model differ.
struct Place {
  uint64_t seed = 0;
  uint64_t clock = 0;
};

[[noreturn]] inline void differ(const Place& place, const char* what, uint64_t rtl, uint64_t model) {
  std::printf("seed %llu, clock %llu: %s: RTL %llx, model %llx\n",
              static_cast<unsigned long long>(place.seed), static_cast<unsigned long long>(place.clock), what,
              static_cast<unsigned long long>(rtl), static_cast<unsigned long long>(model));
  std::exit(1);
}

inline void expect(const Place& place, const char* what, uint64_t rtl, uint64_t model) {
  if (rtl != model)
    differ(place, what, rtl, model);
}

// Writes coverage data on destruction, in a bench built for it (npm run fpga:coverage). Construct it after
// the blocks, because they must still exist then.
class Coverage {
public:
  Coverage() = default;
  Coverage(const Coverage&) = delete;
  Coverage& operator=(const Coverage&) = delete;
  ~Coverage() {
#if VM_COVERAGE
    Verilated::threadContextp()->coveragep()->forcePerInstance(true);
    Verilated::threadContextp()->coveragep()->write();
#endif
  }
};

// The main function of a bench with the arguments SEED CLOCKS. Returns the exit status.
template <class Bench> int run_bench(int count, char** arguments) {
  if (count != 3) {
    std::printf("usage: %s SEED CLOCKS\n", arguments[0]);
    return 2;
  }
  Bench bench(std::strtoull(arguments[1], nullptr, 0), std::strtoull(arguments[2], nullptr, 0));
  const Coverage coverage;
  return bench.run();
}

} // namespace fpga_verbs::bench
