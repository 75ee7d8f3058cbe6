#include "served/shared_function.h"

#include "spec/registers.h"

#include <utility>

namespace fpga_verbs::served {

namespace {

constexpr unsigned identity_bar = 0;

} // namespace

SharedFunction::SharedFunction(std::shared_ptr<board::BoardFunction> function, unsigned underlying_function)
    : function_(std::move(function)), underlying_function_(underlying_function) {
  read_regions();
}

SharedFunction::~SharedFunction() {
  for (const auto& [memory, address] : memory_)
    function_->unmap_dma(address);
}

void SharedFunction::read_regions() {
  namespace identity = spec::identity;
  const auto read64 = [this](uint64_t offset) {
    const uint64_t low = read_at(identity_bar, offset);
    return uint64_t{read_at(identity_bar, offset + sizeof(uint32_t))} << 32 | low;
  };
  functions_ = read_at(identity_bar, identity::underlying_functions);
  const uint32_t count = read_at(identity_bar, identity::regions);
  for (uint32_t index = 0; index < count && index < identity::region_count; ++index) {
    const uint32_t at = index * identity::region_stride;
    const identity::Region found{read_at(identity_bar, identity::region + at)};
    const auto type = static_cast<size_t>(found.type());
    if (type < regions_.size())
      regions_[type] = {.bar = found.bar(),
                        .offset = read64(identity::region_offset + at),
                        .bytes = read64(identity::region_size + at),
                        .stride = read_at(identity_bar, identity::region_page_stride + at)};
  }
}

std::optional<SharedFunctionMemory> SharedFunction::allocate(size_t bytes, std::string& failure) {
  uint64_t address = 0;
  board::DmaMemory memory = function_->allocate_dma(bytes, address, failure);
  if (!memory)
    return std::nullopt;
  const SharedFunctionMemory made{static_cast<uint8_t*>(memory.data()), memory.bytes(), address};
  memory_.emplace_back(std::move(memory), address);
  return made;
}

std::optional<SharedFunction::Register> SharedFunction::find(unsigned bar, uint64_t offset) const {
  for (size_t type = 1; type < regions_.size(); ++type) {
    const Region& in = regions_[type];
    if (in.bytes == 0 || bar != in.bar || offset < in.offset || offset - in.offset >= in.bytes)
      continue;
    const uint64_t within = offset - in.offset;
    if (in.stride == 0)
      return Register{static_cast<spec::RegionType>(type), 0, static_cast<uint32_t>(within)};
    return Register{static_cast<spec::RegionType>(type), static_cast<unsigned>(within / in.stride),
                    static_cast<uint32_t>(within % in.stride)};
  }
  return std::nullopt;
}

uint64_t SharedFunction::place_of(const Register& place) const {
  const Region& in = region(place.region);
  return in.offset + uint64_t{place.page} * in.stride + place.offset;
}

uint32_t SharedFunction::read(const Register& place) {
  const std::scoped_lock lock(mutex_);
  return read_at(region(place.region).bar, place_of(place));
}

void SharedFunction::write(const Register& place, uint32_t value) {
  const std::scoped_lock lock(mutex_);
  function_->write32(region(place.region).bar, place_of(place), value);
}

uint32_t SharedFunction::read_own(uint32_t offset) {
  return read({spec::RegionType::underlying_function, underlying_function_, offset});
}

void SharedFunction::write_own(uint32_t offset, uint32_t value) {
  write({spec::RegionType::underlying_function, underlying_function_, offset}, value);
}

void SharedFunction::write64_own(uint32_t offset, uint64_t value) {
  const Register place{spec::RegionType::underlying_function, underlying_function_, offset};
  const std::scoped_lock lock(mutex_);
  function_->write64(region(place.region).bar, place_of(place), value);
}

uint32_t SharedFunction::read_selected(const Register& place, const std::vector<Selection>& selections) {
  const std::scoped_lock lock(mutex_);
  const auto bar_of = [this](const Register& at) { return region(at.region).bar; };
  std::vector<uint32_t> others;
  for (const auto& [at, value] : selections) {
    others.push_back(read_at(bar_of(at), place_of(at)));
    function_->write32(bar_of(at), place_of(at), value);
  }
  const uint32_t value = read_at(bar_of(place), place_of(place));
  for (size_t i = 0; i < selections.size(); ++i)
    function_->write32(bar_of(selections[i].place), place_of(selections[i].place), others[i]);
  return value;
}

bool SharedFunction::advance() {
  const std::scoped_lock lock(mutex_);
  return function_->advance();
}

bool SharedFunction::is_gone() {
  const std::scoped_lock lock(mutex_);
  return read_at(identity_bar, spec::identity::magic) != spec::identity::magic_reset;
}

} // namespace fpga_verbs::served
