#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace fpga_verbs::hca {

// Objects that the device stores itself; each belongs to a function. A number consists of an index and a
// generation, which advances when the index becomes free, so that stale numbers are invalid.
template <class Object, unsigned index_bits = 16> class NumberedObjects {
public:
  using Entry = Object;
  static constexpr uint32_t reserved_indices = 1; // number 0 names none

  // `count`: including number 0, up to 2^index_bits.
  explicit NumberedObjects(uint32_t count) : slots_(count) {
    for (uint32_t index = count - 1; index >= reserved_indices; --index)
      free_.push_back(index);
  }

  // Creates an object and returns its number; nothing: all are in use.
  std::optional<uint32_t> create(unsigned underlying_function, const Object& object) {
    if (free_.empty())
      return std::nullopt;
    const uint32_t index = free_.back();
    free_.pop_back();
    Slot& slot = slots_[index];
    slot.object = object;
    slot.underlying_function = static_cast<uint8_t>(underlying_function);
    slot.valid = true;
    return uint32_t{slot.generation} << index_bits | index;
  }

  // The object that the function owns under this number, or null.
  const Object* find(unsigned underlying_function, uint32_t number) const {
    const uint32_t index = index_of(number);
    if (index >= slots_.size())
      return nullptr;
    const Slot& slot = slots_[index];
    const bool is_found = slot.valid && slot.generation == number >> index_bits &&
                          slot.underlying_function == underlying_function;
    return is_found ? &slot.object : nullptr;
  }
  Object* find(unsigned underlying_function, uint32_t number) {
    return const_cast<Object*>(std::as_const(*this).find(underlying_function, number));
  }

  // The object must exist.
  void destroy(uint32_t number) {
    const uint32_t index = index_of(number);
    slots_[index].valid = false;
    ++slots_[index].generation;
    free_.push_back(index);
  }

  void reset_function(unsigned underlying_function) {
    for (uint32_t index = reserved_indices; index < slots_.size(); ++index)
      if (slots_[index].valid && slots_[index].underlying_function == underlying_function)
        destroy(index);
  }

private:
  struct Slot {
    Object object;
    uint8_t generation = 0;
    uint8_t underlying_function = 0;
    bool valid = false;
  };

  static constexpr uint32_t index_of(uint32_t number) { return number & ((uint32_t{1} << index_bits) - 1); }

  std::vector<Slot> slots_;
  std::vector<uint32_t> free_; // indices; the one freed last is taken first
};

} // namespace fpga_verbs::hca
