#pragma once

#include "spec/parameters.h"
#include "spec/registers.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

// What the host has written to the read-write registers of an underlying function's page. `registers` is the
// one writer; the blocks that the values belong to read them here.
struct FunctionRegisters {
  spec::underlying_function::ManagementQueueSize management_queue_size;
  uint64_t management_send_queue_address = 0;
  uint64_t management_completion_queue_address = 0;
  std::array<uint64_t, spec::quality_of_service_levels> queuing_structure_address{}; // by QoS level
  spec::underlying_function::QueuingStructureSize queuing_structure_size;
};

using AllFunctionRegisters = std::array<FunctionRegisters, spec::underlying_functions>;

} // namespace fpga_verbs::hca
