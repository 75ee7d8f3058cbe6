#include "hca/send_queue/queue_reader.h"

namespace fpga_verbs::hca {

bool QueueReader::read(unsigned underlying_function, uint32_t table, uint64_t offset, void* destination,
                       size_t bytes) {
  const auto address = translation_.translate(table, offset);
  return address && read(underlying_function, *address, destination, bytes);
}

bool QueueReader::read(unsigned underlying_function, uint64_t address, void* destination, size_t bytes) {
  if (host_.read(underlying_function, address, destination, bytes) == DmaStatus::ok)
    return true;
  ++counters_.function[underlying_function].dma_faults;
  spec::EventUnit event;
  event.set_type(spec::EventType::dma_fault);
  event.set_underlying_function(underlying_function);
  event.set_detail(address);
  events_.report(event);
  return false;
}

} // namespace fpga_verbs::hca
