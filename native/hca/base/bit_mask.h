#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

// A string of 1 to 4096 bits that finds set bits in constant time, like a two-level priority encoder: a
// summary word shows which words have a set bit. Allocates nothing.
class BitMask {
public:
  static constexpr size_t size_maximum = 64 * 64;
  static constexpr size_t none = ~size_t{0};

  explicit BitMask(size_t size, bool value = false) : size_(size) {
    assert(size > 0 && size <= size_maximum);
    if (value)
      for (size_t bit = 0; bit < size; ++bit)
        set(bit);
  }

  bool any() const { return has_set_ != 0; }

  bool test(size_t bit) const {
    assert(bit < size_);
    return (words_[bit / 64] & one(bit % 64)) != 0;
  }

  void set(size_t bit) {
    assert(bit < size_);
    words_[bit / 64] |= one(bit % 64);
    has_set_ |= one(bit / 64);
  }

  void clear(size_t bit) {
    assert(bit < size_);
    words_[bit / 64] &= ~one(bit % 64);
    if (words_[bit / 64] == 0)
      has_set_ &= ~one(bit / 64);
  }

  // The lowest set bit, or none.
  size_t find_first() const {
    if (has_set_ == 0)
      return none;
    return lowest_in(lowest(has_set_));
  }

  // Round robin: the first set bit after `after`, wrapping to 0; `after` itself comes last. none: no bit is
  // set.
  size_t find_next(size_t after) const {
    assert(after < size_);
    const size_t word = after / 64;
    const uint64_t behind = words_[word] & above(after % 64);
    if (behind != 0)
      return word * 64 + lowest(behind);
    const uint64_t words_behind = has_set_ & above(word);
    return words_behind != 0 ? lowest_in(lowest(words_behind)) : find_first();
  }

  // Clears the lowest set bit and returns it; at least one bit must be set.
  size_t take_first() {
    assert(any());
    const size_t word = lowest(has_set_);
    const size_t bit = lowest_in(word);
    words_[word] &= words_[word] - 1;
    if (words_[word] == 0)
      has_set_ &= has_set_ - 1;
    return bit;
  }

private:
  static uint64_t one(size_t bit) { return uint64_t{1} << bit; }
  static uint64_t above(size_t bit) { return ~uint64_t{1} << bit; }

  // For a word that is not 0: std::countr_zero would test for 0.
  static size_t lowest(uint64_t bits) { return static_cast<size_t>(__builtin_ctzll(bits)); }
  size_t lowest_in(size_t word) const { return word * 64 + lowest(words_[word]); }

  size_t size_;
  uint64_t has_set_ = 0;
  std::array<uint64_t, 64> words_{};
};

} // namespace fpga_verbs::hca
