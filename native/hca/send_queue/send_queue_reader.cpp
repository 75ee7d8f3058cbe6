#include "hca/send_queue/send_queue_reader.h"

#include "hca/collect/doorbell_checksum.h"
#include "hca/collect/scoreboard.h"
#include "spec/commands.h"
#include "spec/queues.h"

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

// Bytes of the segments that a work queue entry of this length spans.
constexpr uint32_t whole_segments_of(uint32_t length) {
  return (length + spec::segment_bytes - 1) / spec::segment_bytes * spec::segment_bytes;
}

} // namespace

Refusal SendQueueReader::read(unsigned underlying_function, const spec::QueuePairControl& control,
                              uint32_t queue_pair_number, uint32_t sequence_number,
                              PhysicalCollectBuffer& pcb) {
  const uint32_t slot = sequence_number & ((1u << control.send_queue_log2()) - 1);
  spec::WorkQueueReference reference;
  if (!queues_.read(underlying_function, control.send_queue_pages(),
                    uint64_t{slot} * spec::WorkQueueReference::bytes, &reference, sizeof(reference)))
    return Refusal::send_queue_fault;
  const uint32_t offset = reference.offset();
  const uint32_t length = reference.length();
  const uint32_t bytes = whole_segments_of(length);
  if (reference.sequence_number() != sequence_number || !reference.reserved_is_zero() ||
      length < spec::CommandHeader::bytes || length > spec::command_bytes ||
      offset % spec::work_queue_entry_alignment != 0 ||
      offset % spec::page_bytes + bytes > spec::page_bytes ||
      uint64_t{offset} + bytes > control.send_entry_bytes())
    return Refusal::send_queue_mismatch;
  if (!queues_.read(underlying_function, control.send_entry_pages(), offset, pcb.data.data(), bytes))
    return Refusal::send_queue_fault;
  return check(control, queue_pair_number, sequence_number, length, pcb);
}

// The host may have changed its memory since it posted the command: the device trusts it no more than a VCB.
Refusal SendQueueReader::check(const spec::QueuePairControl& control, uint32_t queue_pair_number,
                               uint32_t sequence_number, uint32_t length, const PhysicalCollectBuffer& pcb) {
  const spec::CommandHeader& header = pcb.header();
  if (header.version() != spec::command_version)
    return Refusal::unknown_version;
  if (!pcb.segment_0().reserved_is_zero())
    return Refusal::reserved_not_zero;
  if (header.queue_pair_number() != queue_pair_number ||
      header.send_queue_sequence_number() != sequence_number ||
      spec::CommandHeader::bytes + header.length() != length)
    return Refusal::send_queue_mismatch;
  if (header.quality_of_service_level() != control.quality_of_service_level())
    return Refusal::wrong_quality_of_service_level;
  if (header.checksum_enable() != 0 &&
      !checksum_matches(pcb.data.data(), whole_segments_of(length), control.checksum_secret()))
    return Refusal::checksum_mismatch;
  return Refusal::none;
}

} // namespace fpga_verbs::hca
