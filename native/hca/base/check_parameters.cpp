#include "hca/base/check_parameters.h"

#include "hca/base/bit_mask.h"
#include "link/address.h"
#include "spec/parameters.h"

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace fpga_verbs::hca {

namespace {

struct Range {
  const char* name;
  uint64_t value;
  uint64_t least;
  uint64_t most;
};

} // namespace

std::string check_parameters(const HcaParameters& parameters) {
  const HcaParameters& p = parameters;
  // A PCB number has 8 bits in a data unit, a lane has one bit in a 64-bit mapping table entry, and function
  // 0 must exist.
  const std::array ranges{
      Range{"underlying_functions", p.underlying_functions, 1, spec::underlying_functions},
      Range{"virtual_collect_buffers", p.virtual_collect_buffers, p.underlying_functions,
            spec::virtual_collect_buffers},
      Range{"virtual_collect_buffer_stride", p.virtual_collect_buffer_stride,
            spec::virtual_collect_buffer_stride, 1u << 16},
      Range{"physical_collect_buffers", p.physical_collect_buffers, 1, spec::physical_collect_buffers},
      Range{"management_physical_collect_buffers", p.management_physical_collect_buffers, 0,
            spec::dedicated_physical_collect_buffers - 1},
      Range{"dedicated_physical_collect_buffers", p.dedicated_physical_collect_buffers,
            uint64_t{p.management_physical_collect_buffers} + 1, spec::dedicated_physical_collect_buffers},
      Range{"transmit_virtual_lanes", p.transmit_virtual_lanes, 1, spec::transmit_virtual_lanes},
      Range{"execution_credits_per_lane", p.execution_credits_per_lane, 0, 31},
      Range{"completion_credits_per_lane", p.completion_credits_per_lane, 0, 31},
      Range{"shared_execution_credits_cap", p.shared_execution_credits_cap, 0, 127},
      Range{"shared_completion_credits_cap", p.shared_completion_credits_cap, 0, 127},
      Range{"queue_pair_contexts_cached", p.queue_pair_contexts_cached, 2,
            uint64_t{1} << spec::queue_pair_index_bits},
      Range{"scheduler_batch", p.scheduler_batch, 1, 256},
      Range{"ports", p.ports, 1, spec::ports},
      Range{"board_number", p.board_number, 0, link::board_numbers - 1},
      Range{"queue_pairs", p.queue_pairs, 3, uint64_t{1} << spec::queue_pair_index_bits},
      Range{"completion_queues", p.completion_queues, 2, BitMask::size_maximum},
      Range{"page_table_entries", p.page_table_entries, 8, 1u << 24},
      Range{"memory_keys", p.memory_keys, 2, 1u << spec::memory_key_index_bits},
      Range{"clock_frequency", p.clock_frequency, 1'000'000, 10'000'000'000},
  };
  for (const Range& range : ranges)
    if (range.value < range.least || range.value > range.most)
      return std::string(range.name) + " is " + std::to_string(range.value) + "; it can be " +
             std::to_string(range.least) + " to " + std::to_string(range.most);
  for (const auto& [name, value] :
       {std::pair{"virtual_collect_buffer_stride", p.virtual_collect_buffer_stride},
        std::pair{"page_table_entries", p.page_table_entries}})
    if (!std::has_single_bit(value))
      return std::string(name) + " is " + std::to_string(value) + "; it must be a power of two";
  const bool executes = p.execution_credits_per_lane != 0 ||
                        (p.shared_execution_credits != 0 && p.shared_execution_credits_cap != 0);
  const bool completes = p.completion_credits_per_lane != 0 ||
                         (p.shared_completion_credits != 0 && p.shared_completion_credits_cap != 0);
  if (!executes || !completes)
    return "a lane can get no execution or no completion credit; it needs one of each, of its own or shared";
  return {};
}

} // namespace fpga_verbs::hca
