#include "driver/work_queue.h"

#include <algorithm>

namespace fpga_verbs::driver {

bool WorkQueueArea::begin(DeviceFunction& function, unsigned entries_log2, size_t largest) {
  constexpr size_t unit = spec::work_queue_entry_alignment;
  entries_log2_ = entries_log2;
  entry_bytes_ = (largest + unit - 1) / unit * unit;
  entries_per_page_ = spec::page_bytes / entry_bytes_;
  const size_t pages = (entries() + entries_per_page_ - 1) / entries_per_page_;
  references_ = function.allocate(entries() * sizeof(spec::WorkQueueReference));
  area_ = function.allocate(pages * spec::page_bytes);
  ids_.resize(entries());
  return references_ && area_;
}

void WorkQueueArea::free(DeviceFunction& function) {
  function.free(references_);
  function.free(area_);
  references_ = area_ = {};
}

void WorkQueueArea::copy(const WorkQueueArea& other, uint16_t next) {
  std::memcpy(area_.at(), other.area_.at(), other.area_.bytes);
  std::ranges::copy(other.ids_, ids_.begin());
  constexpr size_t bytes = sizeof(spec::WorkQueueReference);
  for (uint32_t back = 1; back <= other.entries(); ++back) {
    const uint32_t number = next - back;
    std::memcpy(references_.at((number & (entries() - 1)) * bytes),
                other.references_.at((number & (other.entries() - 1)) * bytes), bytes);
  }
}

} // namespace fpga_verbs::driver
