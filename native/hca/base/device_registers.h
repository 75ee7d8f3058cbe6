#pragma once

#include "spec/registers.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Values of control registers that belong to no single block, and the requested resets. A reset happens after
// the write that requests it, because it also clears the registers.
struct DeviceRegisters {
  bool enabled = false;
  bool disabled = false; // by the control function, after it was enabled: all is there and stands still
  uint64_t context_memory_address = 0; // DMA address in the domain of function 0
  uint64_t context_memory_bytes = 0;
  spec::control::InspectSelect inspect_select;
  uint32_t inspect_queue_pair = 0; // number
  bool device_reset_requested = false;
  uint32_t function_resets_requested = 0; // a bit each
};

} // namespace fpga_verbs::hca
