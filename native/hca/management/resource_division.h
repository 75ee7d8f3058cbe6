#pragma once

#include "hca/base/parameters.h"
#include "hca/collect/collect_group_table.h"
#include "hca/collect/underlying_function_table.h"
#include "hca/kick/lane_credits.h"
#include "hca/kick/lane_map.h"
#include "spec/enums.h"
#include "spec/mailboxes.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::hca {

// The reason why resource allocation requests were refused; resource_manager turns it into an answer.
struct DivisionRefusal {
  spec::ManagementStatus status = spec::ManagementStatus::bad_parameter;
  uint64_t bit = 0; // bad_parameter: where the field lies in the mailbox's content, bits
  spec::Resource resource = spec::Resource::none;
  uint32_t asked = 0; // no_resources: the amount
  uint32_t left = 0;  // no_resources: the largest amount that there could be
};

// The division of a device's VCBs, PCBs, TVLs, credits and entries among functions, levels and lanes
// (US8484392, resource allocation requests). It holds values only: requests are tried on a copy before they
// take effect.
struct ResourceDivision {
  struct Lane {
    LaneCreditDivision execution;
    LaneCreditDivision completion;
    uint32_t list_size = 0; // most commands on its list
    bool operator==(const Lane&) const = default;
  };
  struct Function {
    VirtualCollectBufferBar bar;
    CollectAllotment physical_collect_buffers;
    uint32_t entry_credits = 0; // most commands on lists
    bool operator==(const Function&) const = default;
  };

  unsigned underlying_functions = 0;
  unsigned virtual_collect_buffers = 0;
  unsigned list_entries = 0;
  unsigned transmit_virtual_lanes = 0;
  std::array<Function, spec::underlying_functions> functions{};
  uint32_t shared_physical_collect_buffers = 0;
  LaneMap lane_map;
  std::array<Lane, spec::transmit_virtual_lanes> lanes{};
  uint32_t shared_execution_credits = 0;
  uint32_t shared_completion_credits = 0;

  // Number of VCBs from the base of a function to the next one that another function owns.
  unsigned room(unsigned underlying_function) const;
  // Whether a range is within the board and has no other owner.
  bool is_free_for(unsigned underlying_function, unsigned base, unsigned count) const;

  bool operator==(const ResourceDivision&) const = default;
};

// Applies all requests to a division, releases before acquisitions, so that their order does not matter.
// `requester`: function 0 may divide everything, any other function its share between its levels and lanes.
// Nothing: done. A refusal: discard the division.
std::optional<DivisionRefusal> allocate(ResourceDivision& division, unsigned requester,
                                        std::span<const spec::ResourceAllocationRequest> requests);

} // namespace fpga_verbs::hca
