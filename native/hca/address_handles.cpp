#include "hca/address_handles.h"

namespace fpga_verbs::hca {

AddressHandles::AddressHandles() : slots_(spec::address_handles) {
  for (uint32_t index = spec::address_handles - 1; index >= reserved_indices; --index)
    free_.push_back(static_cast<uint16_t>(index));
}

std::optional<uint32_t> AddressHandles::create(unsigned underlying_function, const Entry& entry) {
  if (free_.empty())
    return std::nullopt;
  const uint16_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.entry = entry;
  slot.underlying_function = static_cast<uint8_t>(underlying_function);
  slot.valid = true;
  return uint32_t{slot.generation} << index_bits | index;
}

const AddressHandles::Entry* AddressHandles::find(unsigned underlying_function, uint32_t number) const {
  const uint32_t index = number & ((uint32_t{1} << index_bits) - 1);
  if (index >= slots_.size())
    return nullptr;
  const Slot& slot = slots_[index];
  const bool is_found = slot.valid && slot.generation == number >> index_bits &&
                        slot.underlying_function == underlying_function;
  return is_found ? &slot.entry : nullptr;
}

void AddressHandles::destroy(uint32_t number) {
  const auto index = static_cast<uint16_t>(number);
  slots_[index].valid = false;
  ++slots_[index].generation;
  free_.push_back(index);
}

void AddressHandles::reset_function(unsigned underlying_function) {
  for (uint32_t index = reserved_indices; index < slots_.size(); ++index)
    if (slots_[index].valid && slots_[index].underlying_function == underlying_function)
      destroy(index);
}

} // namespace fpga_verbs::hca
