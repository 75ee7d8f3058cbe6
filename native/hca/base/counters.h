#pragma once

#include "spec/parameters.h"
#include "spec/registers.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

// Counters of one underlying function; each has the name of its register.
struct FunctionCounters {
  uint64_t kicks = 0;
  uint64_t send_queue_mode_kicks = 0;
  uint64_t scheduled_kicks = 0;
  uint64_t commands_refused = 0;
  uint64_t writes_dropped = 0;
  uint64_t commands_stale = 0;
  uint64_t commands_handed_back = 0;
  uint64_t checksum_mismatches = 0;
  uint64_t commands_cancelled = 0;
  uint64_t commands_sent = 0;
  uint64_t commands_failed = 0;
  uint64_t kick_records_written = 0;
  uint64_t kick_records_dropped = 0;
  uint64_t events_dropped = 0;
  uint64_t dma_faults = 0;
  uint64_t reads_refused = 0;
  uint64_t half_written_commands = 0;
  uint64_t completions_dropped = 0;
  uint64_t requests_dropped = 0;
  uint64_t requests_duplicate = 0;
  uint64_t negative_acknowledges = 0;
  uint64_t receiver_not_ready_negative_acknowledges = 0;
  uint64_t send_queue_mode_entered = 0;
  uint64_t list_refusals = 0;
  std::array<uint64_t, spec::underlying_function::send_holds_count> send_holds{};     // by spec::SendHold
  std::array<uint64_t, spec::underlying_function::room_waits_count> room_waits{};     // by spec::RoomWait
  std::array<uint64_t, spec::underlying_function::credit_waits_count> credit_waits{}; // execution, completion
  uint64_t dedicated_waits = 0;
  uint64_t virtual_collect_buffers_closed = 0;
  uint64_t corrected_bit_errors = 0;
  uint64_t detected_bit_errors = 0;
  uint64_t delayed_reads = 0;
  uint64_t read_tag_waits = 0;
};

// Counters of a port; each has the name of its control register port_….
struct PortCounters {
  uint64_t packets_out = 0;
  uint64_t bytes_out = 0;
  uint64_t packets_in = 0;
  uint64_t bytes_in = 0;
  uint64_t packets_looped = 0;
  uint64_t bad_partition_keys = 0;
  uint64_t bad_queue_keys = 0;
  std::array<uint64_t, spec::control::port_discards_count / spec::ports> discards{}; // by spec::PortDiscard
};

// Counters of the device; each has the name of its control register.
struct DeviceCounters {
  uint64_t transactions = 0;
  uint64_t writes_unclaimed = 0;
  uint64_t corrected_bit_errors = 0;
  uint64_t detected_bit_errors = 0;
  uint64_t queue_pair_cache_hits = 0;
  uint64_t queue_pair_cache_misses = 0;
  uint64_t congestion_notifications = 0;
  std::array<PortCounters, spec::ports> port{};
  std::array<uint64_t, spec::control::packets_dropped_count> packets_dropped{}; // by spec::PacketDrop
};

struct Counters {
  DeviceCounters device;
  std::array<FunctionCounters, spec::underlying_functions> function{};
};

} // namespace fpga_verbs::hca
