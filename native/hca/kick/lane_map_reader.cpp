#include "hca/kick/lane_map_reader.h"

namespace fpga_verbs::hca {

namespace {

constexpr unsigned control_function = 0;
constexpr uint64_t entry_bytes = sizeof(uint64_t);

} // namespace

bool LaneMapReader::set_address(uint64_t address) {
  if (address % entry_bytes != 0)
    return false;
  address_ = address;
  return true;
}

std::optional<uint64_t> LaneMapReader::read_invalid(unsigned underlying_function,
                                                    spec::QualityOfServiceLevel level) {
  const uint32_t index = entry(underlying_function, level);
  if ((invalid_ >> index & 1) == 0)
    return std::nullopt;
  invalid_ &= ~(uint32_t{1} << index);
  const uint64_t place = address_ + index * entry_bytes;
  uint64_t lanes = 0;
  if (host_.read(control_function, place, &lanes, sizeof lanes) == DmaStatus::ok)
    return lanes;
  ++counters_.function[control_function].dma_faults;
  spec::EventUnit event;
  event.set_type(spec::EventType::dma_fault);
  event.set_underlying_function(control_function);
  event.set_detail(place);
  events_.report(event);
  return std::nullopt;
}

} // namespace fpga_verbs::hca
