#pragma once

#include <cstdint>

namespace fpga_verbs::board {

// Random numbers from a seed (splitmix64), the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  // 0 to bound - 1; the bias of the remainder does not matter here.
  uint64_t below(uint64_t bound) { return next() % bound; }

  bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1p-53 < probability; }

private:
  uint64_t state_;
};

} // namespace fpga_verbs::board
