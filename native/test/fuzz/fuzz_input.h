#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fpga_verbs::test {

// The bytes of an input, read as decisions. After its end all bytes are 0.
class FuzzInput {
public:
  explicit FuzzInput(std::span<const uint8_t> bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }

  // The number of bytes that the type has, low byte first.
  template <class Integer> Integer take() {
    Integer value{};
    const std::span<const uint8_t> bytes = take_bytes(sizeof value);
    if (!bytes.empty())
      std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  uint8_t byte() { return take<uint8_t>(); }

  // 0 to `end` - 1, from one byte; `end` is at most 256.
  unsigned below(unsigned end) { return byte() % end; }

  // At most `count` bytes.
  std::span<const uint8_t> take_bytes(size_t count) {
    const std::span<const uint8_t> taken = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

private:
  std::span<const uint8_t> left_;
};

} // namespace fpga_verbs::test
