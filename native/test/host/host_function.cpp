#include "test/host/host_function.h"

#include "spec/commands.h"
#include "spec/registers.h"

#include <bit>
#include <sched.h>
#include <utility>

namespace fpga_verbs::test {

namespace {

constexpr unsigned identity_bar = 0;
constexpr uint64_t stepped_wait = 100'000; // clock ticks

} // namespace

HostFunction::HostFunction(board::EmulatedBoard& board, unsigned underlying_function)
    : board_(board), function_(board.open(underlying_function)), underlying_function_(underlying_function) {
  read_regions();
  const spec::underlying_function::VirtualCollectBufferBar bar{
      read(spec::underlying_function::virtual_collect_buffer_bar)};
  first_collect_buffer_ = bar.base();
  collect_buffers_ = bar.count();
}

void HostFunction::read_regions() {
  namespace identity = spec::identity;
  const auto read64 = [this](uint64_t offset) {
    return function_->read32(identity_bar, offset) | uint64_t{function_->read32(identity_bar, offset + 4)}
                                                         << 32;
  };
  const uint32_t count = function_->read32(identity_bar, identity::regions);
  for (uint32_t index = 0; index < count; ++index) {
    const uint32_t at = index * identity::region_stride;
    const identity::Region region{function_->read32(identity_bar, identity::region + at)};
    regions_[static_cast<size_t>(region.type())] = {
        region.bar(), read64(identity::region_offset + at),
        function_->read32(identity_bar, identity::region_page_stride + at)};
  }
}

HostFunction::Place HostFunction::place(spec::RegionType region, unsigned page) const {
  const Region& found = regions_[static_cast<size_t>(region)];
  return {found.bar, found.offset + uint64_t{page} * found.stride};
}

HostMemory HostFunction::allocate(size_t bytes) {
  board::DmaMemory memory = board::DmaMemory::allocate(bytes);
  const HostMemory view{
      .data = static_cast<uint8_t*>(memory.data()),
      .bytes = memory.bytes(),
      .address = function_->map_dma(memory.data(), memory.bytes(), board::DmaRights::read_write).value_or(0)};
  memory_.emplace(view.address, std::move(memory));
  return view;
}

void HostFunction::free(const HostMemory& memory) {
  function_->unmap_dma(memory.address);
  memory_.erase(memory.address);
}

uint32_t HostFunction::read_page(spec::RegionType region, uint32_t offset) {
  const unsigned page = region == spec::RegionType::underlying_function ? underlying_function_ : 0;
  const Place begin = place(region, page);
  return function_->read32(begin.bar, begin.offset + offset);
}

void HostFunction::write(uint32_t offset, uint32_t value) {
  const Place page = place(spec::RegionType::underlying_function, underlying_function_);
  function_->write32(page.bar, page.offset + offset, value);
}

void HostFunction::write64(uint32_t offset, uint64_t value) {
  const Place page = place(spec::RegionType::underlying_function, underlying_function_);
  function_->write64(page.bar, page.offset + offset, value);
}

void HostFunction::write_control(uint32_t offset, uint32_t value) {
  const Place page = place(spec::RegionType::control, 0);
  function_->write32(page.bar, page.offset + offset, value);
}

void HostFunction::write_control64(uint32_t offset, uint64_t value) {
  const Place page = place(spec::RegionType::control, 0);
  function_->write64(page.bar, page.offset + offset, value);
}

void HostFunction::write_command(unsigned virtual_collect_buffer, const void* command, size_t bytes) {
  const Place page = place(spec::RegionType::virtual_collect_buffer, virtual_collect_buffer);
  function_->write_command(page.bar, page.offset, command, bytes);
}

void HostFunction::store_command(unsigned virtual_collect_buffer, const void* command, size_t bytes) {
  const Place page = place(spec::RegionType::virtual_collect_buffer, virtual_collect_buffer);
  function_->store_command(page.bar, page.offset, command, bytes);
}

void HostFunction::write_slot(unsigned virtual_collect_buffer, spec::DoorbellSlot slot,
                              uint32_t queue_pair_number, uint32_t sequence_number) {
  spec::DoorbellSlotWrite value;
  value.set_queue_pair_number(queue_pair_number);
  value.set_send_queue_sequence_number(sequence_number);
  const Place page = place(spec::RegionType::virtual_collect_buffer, virtual_collect_buffer);
  const uint64_t at = spec::doorbell_slots_offset + static_cast<uint64_t>(slot) * sizeof value;
  function_->write64(page.bar, page.offset + at, std::bit_cast<uint64_t>(value));
  function_->fence();
}

void HostFunction::wait_a_little() {
  if (function_->advance())
    return;
  if (board::SteppedProgress* const stepped = board_.stepped()) {
    stepped->advance_to(board_.now() + stepped_wait);
    return;
  }
  read(spec::underlying_function::status);
  sched_yield();
}

bool HostFunction::reset() {
  spec::underlying_function::Reset request;
  request.set_reset(1);
  write(spec::underlying_function::reset, request.bits);
  constexpr unsigned timeout = 100'000;
  for (unsigned i = 0; i < timeout; ++i) {
    const spec::underlying_function::Status status{read(spec::underlying_function::status)};
    if (status.reset_in_progress() == 0)
      return true;
    wait_a_little();
  }
  return false;
}

} // namespace fpga_verbs::test
