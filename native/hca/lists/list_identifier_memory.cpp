#include "hca/lists/list_identifier_memory.h"

#include <bit>

namespace fpga_verbs::hca {

ListIdentifierMemory::ListIdentifierMemory(ListAddressing addressing, size_t lists)
    : addressing_(addressing), index_(lists), free_(lists, true), next_(lists, no_list),
      first_(std::bit_ceil(2 * lists), no_list),
      shift_(static_cast<unsigned>(std::countl_zero(static_cast<uint32_t>(first_.size() - 1)))) {
  if (addressing == ListAddressing::direct)
    for (size_t list = 0; list < lists; ++list)
      index_[list] = static_cast<uint32_t>(list);
}

uint16_t ListIdentifierMemory::allocate(uint32_t index) {
  if (!free_.any())
    return no_list;
  const auto list = static_cast<uint16_t>(free_.take_first());
  uint16_t& first = first_[bucket(index)];

  index_[list] = index;
  next_[list] = first;
  first = list;
  return list;
}

void ListIdentifierMemory::free(uint16_t list) {
  assert(assigned(list));
  uint16_t* link = &first_[bucket(index_[list])];
  while (*link != list)
    link = &next_[*link];
  *link = next_[list];
  free_.set(list);
}

} // namespace fpga_verbs::hca
