#pragma once

#include "driver/device_function.h"
#include "spec/commands.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fpga_verbs::driver {

// A piece of registered memory: gather and scatter entries, as the device takes them.
using Segment = spec::GatherEntry;

// log2 of the entries of a queue that holds at least `entries`.
inline unsigned log2_of(uint32_t entries) {
  return entries <= 1 ? 0 : static_cast<unsigned>(std::bit_width(entries - 1));
}

// The memory of a work queue: references in a circular buffer, the entries that they refer to (US6789143),
// and the identifiers that the program gave its work requests, by place.
class WorkQueueArea {
public:
  // `largest`: bytes of the largest entry. False: no memory is left.
  bool begin(DeviceFunction& function, unsigned entries_log2, size_t largest);
  void free(DeviceFunction& function);

  unsigned entries_log2() const { return entries_log2_; }
  uint32_t entries() const { return uint32_t{1} << entries_log2_; }
  const DeviceMemory& references() const { return references_; }
  const DeviceMemory& area() const { return area_; }

  uint8_t* entry(uint32_t place) const { return area_.at(offset_of(place)); }
  uint64_t& id(uint32_t place) { return ids_[place]; }

  // The reference of work request `sequence_number` to the entry at a place.
  void refer(uint16_t sequence_number, uint32_t place, size_t length) {
    spec::WorkQueueReference reference;
    reference.set_offset(static_cast<uint32_t>(offset_of(place)));
    reference.set_sequence_number(sequence_number);
    reference.set_length(static_cast<uint32_t>(length));
    std::memcpy(references_.at((sequence_number & (entries() - 1)) * sizeof reference), &reference,
                sizeof reference);
  }
  // Takes over what another area, with as many entries or fewer, holds; `next` is posted next.
  void copy(const WorkQueueArea& other, uint16_t next);

private:
  size_t offset_of(uint32_t place) const {
    return place / entries_per_page_ * spec::page_bytes + place % entries_per_page_ * entry_bytes_;
  }

  unsigned entries_log2_ = 0;
  size_t entry_bytes_ = 0;
  size_t entries_per_page_ = 1; // none lies across a page
  DeviceMemory references_;
  DeviceMemory area_;
  std::vector<uint64_t> ids_;
};

} // namespace fpga_verbs::driver
