#pragma once

#include "spec/enums.h"
#include "spec/parameters.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace fpga_verbs::hca {

// Sizes and defaults of a board, with the same names as the parameters of the RTL. Upper bounds are those of
// the specification.
struct HcaParameters {
  unsigned underlying_functions = spec::underlying_functions;
  unsigned virtual_collect_buffers = spec::virtual_collect_buffers;
  unsigned virtual_collect_buffer_stride = spec::virtual_collect_buffer_stride;
  unsigned physical_collect_buffers = spec::physical_collect_buffers;
  unsigned dedicated_physical_collect_buffers = spec::dedicated_physical_collect_buffers;
  unsigned management_physical_collect_buffers = spec::management_physical_collect_buffers;
  unsigned transmit_virtual_lanes = spec::transmit_virtual_lanes;
  unsigned execution_credits_per_lane = spec::execution_credits_per_lane;
  unsigned completion_credits_per_lane = spec::completion_credits_per_lane;
  unsigned shared_execution_credits = spec::shared_execution_credits;
  unsigned shared_completion_credits = spec::shared_completion_credits;
  unsigned shared_execution_credits_cap = spec::shared_execution_credits_cap;
  unsigned shared_completion_credits_cap = spec::shared_completion_credits_cap;
  unsigned queue_pair_contexts_cached = spec::queue_pair_contexts_cached;
  unsigned scheduler_batch = spec::scheduler_batch;
  unsigned ports = 1;
  spec::LinkLayer link_layer = spec::LinkLayer::ethernet; // of all ports
  unsigned board_number = 0;                              // its addresses follow from it
  unsigned queue_pairs = 65536;
  unsigned completion_queues = 4096;      // number 0 names none
  unsigned page_table_entries = 1u << 21; // a power of two; of all page tables together
  unsigned memory_keys = 65536;           // entries of the key table, at most 2^24; entry 0 is never used
  uint64_t clock_frequency = spec::clock_frequency;
  spec::ScoreboardVariant scoreboard_variant = spec::ScoreboardVariant::masked;
  bool acknowledge_coalescing = spec::acknowledge_coalescing != 0;
  bool double_word_only =
      false; // the bridge before the board makes DWORD writes only; reported, not enforced
  std::string board_name = "fpga-verbs emulated board";

  bool operator==(const HcaParameters&) const = default;
};

// Total credits of each kind, which limit the commands that execute or wait for an acknowledgment.
inline size_t execution_credits(const HcaParameters& parameters) {
  return size_t{parameters.transmit_virtual_lanes} * parameters.execution_credits_per_lane +
         parameters.shared_execution_credits;
}
inline size_t completion_credits(const HcaParameters& parameters) {
  return size_t{parameters.transmit_virtual_lanes} * parameters.completion_credits_per_lane +
         parameters.shared_completion_credits;
}

} // namespace fpga_verbs::hca
