#pragma once

#include "spec/registers.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Values that the control function has written to control registers and that no single block owns, and the
// resets that were asked for: a reset happens after the write that asks for it, because it takes away the
// registers too.
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
