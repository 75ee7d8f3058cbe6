#include "board/function_view.h"

#include "board/emulated_board.h"
#include "spec/registers.h"

#include <algorithm>
#include <cstring>

namespace fpga_verbs::board {

using spec::RegionType;

namespace {

constexpr uint32_t all_ones = ~uint32_t{0};
constexpr unsigned register_bytes = sizeof(uint32_t);

// Maximum number of registers in a view.
bool selects(RegionType region, uint32_t offset) {
  if (region == RegionType::control)
    return offset == spec::control::inspect_select || offset == spec::control::inspect_queue_pair;
  return region == RegionType::underlying_function && offset == spec::underlying_function::inspect_queue_pair;
}

bool has_effect(RegionType region, uint32_t offset) {
  return region == RegionType::underlying_function && offset == spec::underlying_function::management_lock;
}

void write_register(Device& device, RegionType region, unsigned page, uint32_t offset, uint32_t value) {
  const hca::BarWrite write{.region = region,
                            .page = static_cast<uint16_t>(page),
                            .offset = offset,
                            .length = register_bytes,
                            .byte_enables = (uint64_t{1} << register_bytes) - 1,
                            .data = reinterpret_cast<const uint8_t*>(&value)};
  device.write(write);
}

} // namespace

uint32_t FunctionView::read32(unsigned bar, uint64_t offset) {
  const auto place = board_->device_side_.map().find(underlying_function_, bar, offset, register_bytes);
  if (!place || has_effect(place.region, place.offset))
    return all_ones;
  const Exclusive exclusive(*board_->progress_);
  Device& device = *board_->device_;
  const std::span inspected(inspected_.data(), inspected_count_);
  std::array<uint32_t, most_inspected> others{};
  for (size_t i = 0; i < inspected.size(); ++i) {
    const Inspected& own = inspected[i];
    others[i] = device.read(own.region, underlying_function_, own.offset);
    write_register(device, own.region, underlying_function_, own.offset, own.value);
  }
  const uint32_t value = device.read(place.region, place.page, place.offset);
  for (size_t i = 0; i < inspected.size(); ++i)
    write_register(device, inspected[i].region, underlying_function_, inspected[i].offset, others[i]);
  return value;
}

bool FunctionView::write32(unsigned bar, uint64_t offset, uint32_t value) {
  const auto place = board_->device_side_.map().find(underlying_function_, bar, offset, register_bytes);
  if (!place || !selects(place.region, place.offset))
    return false;
  const std::span known(inspected_.data(), inspected_count_);
  const auto found = std::ranges::find_if(known, [&place](const Inspected& each) {
    return each.region == place.region && each.offset == place.offset;
  });
  if (found != known.end())
    found->value = value;
  else
    inspected_[inspected_count_++] = {place.region, place.offset, value};
  return true;
}

void FunctionView::access(unsigned bar, std::span<RegisterAccess> accesses) {
  for (RegisterAccess& access : accesses) {
    if (access.is_write())
      write32(bar, access.offset(), access.value);
    else
      access.value = read32(bar, access.offset());
  }
}

std::unique_ptr<BoardWatch> FunctionView::watch_board(WatchKind kind) {
  return board_->watch(underlying_function_, kind);
}

hca::Inspection FunctionView::inspection(uint32_t from) const {
  constexpr uint32_t all = ~uint32_t{0};
  return {.functions = underlying_function_ == 0 ? all : uint32_t{1} << underlying_function_, .from = from};
}

uint32_t FunctionView::queue_pairs(uint32_t from, std::vector<hca::QueuePairFacts>& found) {
  const Exclusive exclusive(*board_->progress_);
  return board_->device_->inspect_queue_pairs(inspection(from), found);
}

uint32_t FunctionView::regions(uint32_t from, std::vector<hca::RegionFacts>& found) {
  const Exclusive exclusive(*board_->progress_);
  return board_->device_->inspect_regions(inspection(from), found);
}

} // namespace fpga_verbs::board
