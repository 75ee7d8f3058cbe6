#pragma once

#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/memory/memory_translation.h"

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::hca {

// DMA reads of queues in host memory. A failed read is counted and raises an event.
class QueueReader {
public:
  QueueReader(Counters& counters, HostPort& host, MemoryTranslation& translation, EventPort& events)
      : counters_(counters), host_(host), translation_(translation), events_(events) {}

  // Reads a table's memory from byte `offset` on, without crossing a page. False: not mapped, or unreachable.
  bool read(unsigned underlying_function, uint32_t table, uint64_t offset, void* destination, size_t bytes) {
    const auto address = translation_.translate(table, offset);
    return address && read(underlying_function, *address, destination, bytes);
  }

  // Reads at a DMA address. False: unreachable.
  bool read(unsigned underlying_function, uint64_t address, void* destination, size_t bytes) {
    if (host_.read(underlying_function, address, destination, bytes) == DmaStatus::ok) [[likely]]
      return true;
    report_fault(underlying_function, address);
    return false;
  }

private:
  void report_fault(unsigned underlying_function, uint64_t address);

  Counters& counters_;
  HostPort& host_;
  MemoryTranslation& translation_;
  EventPort& events_;
};

} // namespace fpga_verbs::hca
