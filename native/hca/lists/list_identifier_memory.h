#pragma once

#include "hca/base/bit_mask.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

inline constexpr uint16_t no_list = 0xffff;

// How list identifiers are assigned.
enum class ListAddressing : uint8_t {
  direct,            // the index is the list identifier: few indexes, all possible (a TVL)
  content_addressed, // an index gets the lowest free list identifier for as long as its list has a data unit
                     // (a queue pair number)
};

// The list identifier to index memory and the index to list identifier memory (US8804752). In the RTL the
// latter is hashed or content addressable. Here it is a hash table with at least two buckets per list,
// chained through the list identifiers.
class ListIdentifierMemory {
public:
  ListIdentifierMemory(ListAddressing addressing, size_t lists);

  size_t lists() const { return index_.size(); }
  ListAddressing addressing() const { return addressing_; }

  // The list of an index, or no_list. With direct addressing, every index below lists() has one.
  uint16_t find(uint32_t index) const {
    if (addressing_ == ListAddressing::direct)
      return index < lists() ? static_cast<uint16_t>(index) : no_list;
    uint16_t list = first_[bucket(index)];
    while (list != no_list && index_[list] != index)
      list = next_[list];
    return list;
  }

  // The index of an assigned list.
  uint32_t index(uint16_t list) const {
    assert(assigned(list));
    return index_[list];
  }

  bool assigned(uint16_t list) const {
    return list < lists() && (addressing_ == ListAddressing::direct || !free_.test(list));
  }

  // The list of an index; an index without a list gets the lowest free list identifier. no_list: none is
  // free.
  uint16_t find_or_allocate(uint32_t index) {
    const uint16_t list = find(index);
    return list != no_list || addressing_ == ListAddressing::direct ? list : allocate(index);
  }

  // Releases the assignment of a list. Direct assignments are permanent.
  void release(uint16_t list) {
    if (addressing_ == ListAddressing::content_addressed)
      free(list);
  }

private:
  uint16_t allocate(uint32_t index) {
    if (!free_.any())
      return no_list;
    const auto list = static_cast<uint16_t>(free_.take_first());
    uint16_t& first = first_[bucket(index)];
    index_[list] = index;
    next_[list] = first;
    first = list;
    return list;
  }

  void free(uint16_t list) {
    uint16_t* link = &first_[bucket(index_[list])];
    while (*link != list)
      link = &next_[*link];
    *link = next_[list];
    free_.set(list);
  }

  size_t bucket(uint32_t index) const { return (index * 0x9e3779b9U) >> shift_; }

  ListAddressing addressing_;
  std::vector<uint32_t> index_; // by list
  BitMask free_;                // by list
  std::vector<uint16_t> next_;  // by list: the next in its bucket
  std::vector<uint16_t> first_; // by bucket
  unsigned shift_;              // leaves the bits of a bucket's number
};

} // namespace fpga_verbs::hca
