#include "hca/send_queue/queue_reader.h"

namespace fpga_verbs::hca {

void QueueReader::report_fault(unsigned underlying_function, uint64_t address) {
  ++counters_.function[underlying_function].dma_faults;
  spec::EventUnit event;
  event.set_type(spec::EventType::dma_fault);
  event.set_underlying_function(underlying_function);
  event.set_detail(address);
  events_.report(event);
}

} // namespace fpga_verbs::hca
