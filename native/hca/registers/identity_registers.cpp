#include "hca/registers/identity_registers.h"

#include "spec/parameters.h"
#include "spec/registers.h"

#include <cstring>

namespace fpga_verbs::hca {

namespace {

constexpr uint64_t control_offset = 0x10000;             // 64 KiB
constexpr uint64_t underlying_function_offset = 0x20000; // 128 KiB
constexpr uint32_t design_emulated_board = 1;

} // namespace

std::array<Region, regions> region_table(const HcaParameters& parameters) {
  return {
      Region{.type = spec::RegionType::identity,
             .bar = 0,
             .pages = 1,
             .stride = spec::identity::bytes,
             .offset = 0},
      Region{.type = spec::RegionType::control,
             .bar = 0,
             .pages = 1,
             .stride = spec::control::bytes,
             .offset = control_offset},
      Region{.type = spec::RegionType::underlying_function,
             .bar = 0,
             .pages = parameters.underlying_functions,
             .stride = spec::underlying_function::bytes,
             .offset = underlying_function_offset},
      Region{.type = spec::RegionType::virtual_collect_buffer,
             .bar = 2,
             .prefetchable = true,
             .pages = parameters.virtual_collect_buffers,
             .stride = parameters.virtual_collect_buffer_stride,
             .offset = 0},
  };
}

IdentityRegisters::IdentityRegisters(const HcaParameters& parameters, FunctionCounters& counters,
                                     uint64_t context_memory_needed, const RtlBlocks& rtl)
    : parameters_(parameters), counters_(counters), context_memory_needed_(context_memory_needed), rtl_(rtl),
      table_(region_table(parameters)) {}

uint32_t IdentityRegisters::board_name(uint32_t index) const {
  std::array<char, spec::identity::board_name_count * 4> name{};
  parameters_.board_name.copy(name.data(), name.size());
  uint32_t double_word = 0;
  std::memcpy(&double_word, name.data() + index * 4, sizeof double_word);
  return double_word;
}

std::optional<RegisterPage::Register> IdentityRegisters::value(uint32_t offset) const {
  namespace r = spec::identity;
  switch (offset) {
  case r::magic:
    return Register{r::magic_reset};
  case r::version:
    return Register{r::version_reset};
  case r::device: {
    r::Device device;
    device.set_design(design_emulated_board);
    return Register{device.bits};
  }
  case r::capabilities: {
    r::Capabilities capabilities;
    capabilities.set_scoreboard_variant(parameters_.scoreboard_variant);
    capabilities.set_double_word_only(parameters_.double_word_only ? 1 : 0);
    capabilities.set_kick_records(1);
    capabilities.set_rtl_collect_buffer(rtl_.collect_buffer ? 1 : 0);
    capabilities.set_rtl_virtual_kick(rtl_.virtual_kick ? 1 : 0);
    return Register{capabilities.bits};
  }
  case r::underlying_functions:
    return Register{parameters_.underlying_functions};
  case r::virtual_collect_buffers:
    return Register{parameters_.virtual_collect_buffers};
  case r::virtual_collect_buffer_stride:
    return Register{parameters_.virtual_collect_buffer_stride};
  case r::physical_collect_buffers:
    return Register{parameters_.physical_collect_buffers};
  case r::dedicated_physical_collect_buffers: {
    r::DedicatedPhysicalCollectBuffers dedicated;
    dedicated.set_total(parameters_.dedicated_physical_collect_buffers);
    dedicated.set_management(parameters_.management_physical_collect_buffers);
    return Register{dedicated.bits};
  }
  case r::transmit_virtual_lanes:
    return Register{parameters_.transmit_virtual_lanes};
  case r::queue_pairs:
    return Register{parameters_.queue_pairs};
  case r::ports:
    return Register{parameters_.ports};
  case r::clock_frequency:
    return Register{parameters_.clock_frequency, true};
  case r::beat_bytes:
    return Register{rtl_.beat_bytes};
  case r::queue_entries_maximum:
    return Register{spec::queue_entries_maximum};
  case r::context_memory_needed:
    return Register{context_memory_needed_, true};
  case r::regions:
    return Register{regions};
  default:
    break;
  }
  if (const auto index = register_index(offset, r::board_name, r::board_name_count, r::board_name_stride))
    return Register{board_name(*index)};
  // The entries of the region table are interleaved by their strides; unused entries read 0.
  const auto entry = [&](uint32_t first, uint32_t count, uint32_t stride) -> std::optional<Region> {
    const auto index = register_index(offset, first, count, stride);
    if (!index)
      return std::nullopt;
    return *index < table_.size() ? table_[*index] : Region{};
  };
  if (const auto found = entry(r::region, r::region_count, r::region_stride)) {
    r::Region region;
    region.set_type(found->type);
    region.set_bar(found->bar);
    region.set_prefetchable(found->prefetchable ? 1 : 0);
    return Register{region.bits};
  }
  if (const auto found = entry(r::region_entries, r::region_entries_count, r::region_entries_stride))
    return Register{found->pages};
  if (const auto found = entry(r::region_offset, r::region_offset_count, r::region_offset_stride))
    return Register{found->offset, true};
  if (const auto found = entry(r::region_size, r::region_size_count, r::region_size_stride))
    return Register{found->bytes(), true};
  if (const auto found =
          entry(r::region_page_stride, r::region_page_stride_count, r::region_page_stride_stride))
    return Register{found->stride};
  return std::nullopt;
}

bool IdentityRegisters::set_value(uint32_t, uint64_t) { return false; }

} // namespace fpga_verbs::hca
