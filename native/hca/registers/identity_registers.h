#pragma once

#include "hca/base/counters.h"
#include "hca/base/parameters.h"
#include "hca/base/rtl_blocks.h"
#include "hca/registers/register_page.h"
#include "spec/enums.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

// Location of a kind of page in the BARs.
struct Region {
  spec::RegionType type = spec::RegionType::none;
  unsigned bar = 0;
  bool prefetchable = false;
  uint32_t pages = 0;
  uint32_t stride = 0; // bytes between pages
  uint64_t offset = 0; // in the BAR

  uint64_t bytes() const { return uint64_t{pages} * stride; }
};

inline constexpr unsigned regions = 4;

// The regions of a board: identity, control and the functions' register pages in BAR 0, the VCBs in the
// prefetchable BAR 2.
std::array<Region, regions> region_table(const HcaParameters& parameters);

// Identity, sizes and region table, as one function reads them.
class IdentityRegisters final : public RegisterPage {
public:
  // `context_memory_needed` in bytes.
  IdentityRegisters(const HcaParameters& parameters, FunctionCounters& counters,
                    uint64_t context_memory_needed, const RtlBlocks& rtl);

private:
  std::optional<Register> value(uint32_t offset) const override;
  bool set_value(uint32_t offset, uint64_t value) override;
  void count_refused() override { ++counters_.reads_refused; }

  uint32_t board_name(uint32_t index) const;

  const HcaParameters& parameters_;
  FunctionCounters& counters_;
  uint64_t context_memory_needed_;
  RtlBlocks rtl_;
  std::array<Region, regions> table_;
};

} // namespace fpga_verbs::hca
