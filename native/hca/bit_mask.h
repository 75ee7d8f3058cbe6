#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// A string of 1 to 4096 bits that finds set and clear bits in constant time, like a two-level priority
// encoder: a summary word tells which words have a set bit, another which have a clear one. Only the
// constructor allocates.
class BitMask {
public:
  static constexpr size_t size_maximum = 64 * 64;
  static constexpr size_t none = ~size_t{0};

  explicit BitMask(size_t size, bool value = false)
      : size_(size), words_((size + 63) / 64, value ? ~uint64_t{0} : 0), last_valid_(up_to((size - 1) % 64)) {
    assert(size > 0 && size <= size_maximum);
    words_.back() &= last_valid_;
    (value ? has_set_ : has_clear_) = up_to(words_.size() - 1);
  }

  size_t size() const { return size_; }
  bool any() const { return has_set_ != 0; }

  bool test(size_t bit) const {
    assert(bit < size_);
    return (words_[bit / 64] >> bit % 64 & 1) != 0;
  }

  void set(size_t bit) {
    assert(bit < size_);
    const size_t word = bit / 64;
    words_[word] |= one(bit % 64);
    has_set_ |= one(word);
    if (words_[word] == valid(word))
      has_clear_ &= ~one(word);
  }

  void clear(size_t bit) {
    assert(bit < size_);
    const size_t word = bit / 64;
    words_[word] &= ~one(bit % 64);
    has_clear_ |= one(word);
    if (words_[word] == 0)
      has_set_ &= ~one(word);
  }

  void assign(size_t bit, bool value) { value ? set(bit) : clear(bit); }

  // The lowest set bit, or none.
  size_t find_first() const {
    if (has_set_ == 0)
      return none;
    return lowest_in(lowest(has_set_));
  }

  // The lowest clear bit, or none.
  size_t find_first_clear() const {
    if (has_clear_ == 0)
      return none;
    const size_t word = lowest(has_clear_);
    return word * 64 + lowest(~words_[word]);
  }

  // Round robin: the first set bit after `after`, going on at 0 behind the last; `after` itself comes last.
  // none: no bit is set.
  size_t find_next(size_t after) const {
    assert(after < size_);
    const size_t word = after / 64;
    const uint64_t behind = words_[word] & ~up_to(after % 64);
    if (behind != 0)
      return word * 64 + lowest(behind);
    const uint64_t later_words = has_set_ & ~up_to(word);
    return later_words != 0 ? lowest_in(lowest(later_words)) : find_first();
  }

private:
  static uint64_t one(size_t bit) { return uint64_t{1} << bit; }
  static uint64_t up_to(size_t bit) { return ~uint64_t{0} >> (63 - bit); }
  static size_t lowest(uint64_t bits) { return static_cast<size_t>(std::countr_zero(bits)); }
  size_t lowest_in(size_t word) const { return word * 64 + lowest(words_[word]); }
  uint64_t valid(size_t word) const { return word + 1 == words_.size() ? last_valid_ : ~uint64_t{0}; }

  size_t size_;
  std::vector<uint64_t> words_;
  uint64_t last_valid_; // the bits of the last word that are part of the string
  uint64_t has_set_ = 0;
  uint64_t has_clear_ = 0;
};

} // namespace fpga_verbs::hca
