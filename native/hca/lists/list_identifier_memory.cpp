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

} // namespace fpga_verbs::hca
