#pragma once

#include "spec/contexts.h"
#include "spec/data_units.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Parameters of the execution of a PCB's command. queue_pair_fetch sets them when the command starts; dma
// uses them, and packet_builder after the last packet.
struct Execution {
  spec::KickUnit kick;         // as started; anything but success is not executed
  uint64_t begun = 0;          // clock ticks
  uint64_t message_length = 0; // bytes, 0 to 2^31
  uint32_t packets = 0;        // PSNs that it takes: of a READ those of its responses; 0: it is not sent
  uint32_t first_psn = 0;      // of the message
  uint32_t next_packet = 0;    // of the message, the next to be sent
  uint64_t entry_begin = 0;    // offset in the message of the gather entry that dma is at
  uint8_t gather_entry = 0;
  uint8_t retry_epoch = 0;           // of its queue pair when it was started
  spec::AddressVector destination{}; // of a datagram
};

} // namespace fpga_verbs::hca
