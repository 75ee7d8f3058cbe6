#pragma once

#include "hca/collect/physical_collect_buffer.h"
#include "hca/send_queue/queue_reader.h"
#include "spec/contexts.h"
#include "spec/enums.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Reads commands from send queues in host memory: for send_queue_scheduler, which executes them, and for
// completion, which needs the destination of an answer.
class SendQueueReader {
public:
  explicit SendQueueReader(QueueReader& queues) : queues_(queues) {}

  // Reads work request `sequence_number` of a queue pair into pcb.data: first its reference, then the entry.
  // Returns none, or the reason why it is invalid: send_queue_fault, send_queue_mismatch, or the reason for
  // which a VCB would refuse it.
  spec::Refusal read(unsigned underlying_function, const spec::QueuePairControl& control,
                     uint32_t queue_pair_number, uint32_t sequence_number, PhysicalCollectBuffer& pcb);

private:
  static spec::Refusal check(const spec::QueuePairControl& control, uint32_t queue_pair_number,
                             uint32_t sequence_number, uint32_t length, const PhysicalCollectBuffer& pcb);

  QueueReader& queues_;
};

} // namespace fpga_verbs::hca
