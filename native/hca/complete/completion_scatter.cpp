// The data of an answer on its way to the memory of the work request.
#include "hca/complete/completion.h"
#include "hca/send_queue/send_work_request.h"

#include <algorithm>

namespace fpga_verbs::hca {

using spec::CompletionStatus;

// Writes `bytes` of the answer, at `offset` in it, to the scatter list of the work request. Reads the list
// again from the send queue, where it stays until the work request is complete.
CompletionStatus Completion::scatter(const Subject& subject, const spec::MessageUnit& message,
                                     uint64_t offset, const uint8_t* data, uint32_t bytes) {
  const uint32_t sequence_number = message.send_queue_sequence_number();
  if (!scattered_.valid || scattered_.queue_pair_number != subject.number ||
      scattered_.sequence_number != sequence_number) {
    scattered_.valid =
        blocks_.send_queues.read(subject.underlying_function, subject.control(), subject.number,
                                 sequence_number, scattered_.entry) == spec::Refusal::none;
    scattered_.queue_pair_number = subject.number;
    scattered_.sequence_number = sequence_number;
    if (!scattered_.valid)
      return CompletionStatus::local_queue_pair_operation_error;
  }
  uint64_t begin = 0;
  for (const spec::GatherEntry& entry : gather_list(scattered_.entry)) {
    const uint64_t end = begin + entry.length();
    if (bytes != 0 && end > offset) {
      const auto piece = static_cast<uint32_t>(std::min<uint64_t>(bytes, end - offset));
      const KeyAccess access{.underlying_function = subject.underlying_function,
                             .protection_domain = subject.control().protection_domain(),
                             .key = entry.local_key(),
                             .address = entry.address() + (offset - begin),
                             .length = piece,
                             .rights = right(spec::AccessFlag::local_write)};
      if (blocks_.memory.write(access, data) != AccessFault::none)
        return CompletionStatus::local_protection_error;
      data += piece;
      offset += piece;
      bytes -= piece;
    }
    begin = end;
  }
  return bytes == 0 ? CompletionStatus::success : CompletionStatus::local_length_error;
}

} // namespace fpga_verbs::hca
