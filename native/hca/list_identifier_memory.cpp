#include "hca/list_identifier_memory.h"

#include <bit>

namespace fpga_verbs::hca {

ListIdentifierMemory::ListIdentifierMemory(ListAddressing addressing, size_t lists)
    : addressing_(addressing), index_(lists), used_(lists), next_(lists, no_list),
      first_(std::bit_ceil(2 * lists), no_list),
      shift_(static_cast<unsigned>(std::countl_zero(static_cast<uint32_t>(first_.size() - 1)))) {
  if (addressing == ListAddressing::direct)
    for (size_t list = 0; list < lists; ++list)
      index_[list] = static_cast<uint32_t>(list);
}

uint16_t ListIdentifierMemory::allocate(uint32_t index) {
  const size_t free = used_.find_first_clear();
  if (free == BitMask::none)
    return no_list;
  const auto list = static_cast<uint16_t>(free);
  uint16_t& first = first_[bucket(index)];
  used_.set(list);
  index_[list] = index;
  next_[list] = first;
  first = list;
  return list;
}

void ListIdentifierMemory::release(uint16_t list) {
  assert(assigned(list));
  if (addressing_ == ListAddressing::direct)
    return;
  uint16_t* link = &first_[bucket(index_[list])];
  while (*link != list)
    link = &next_[*link];
  *link = next_[list];
  used_.clear(list);
}

} // namespace fpga_verbs::hca
