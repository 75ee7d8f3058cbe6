#include "driver/send_queue.h"

#include "driver/explanation.h"

#include <algorithm>
#include <cerrno>

namespace fpga_verbs::driver {

bool SendQueue::begin(DeviceFunction& function, uint32_t entries, uint32_t gather_entries,
                      uint32_t inline_bytes) {
  gather_entries_ = gather_entries;
  inline_bytes_ = inline_bytes;
  const size_t payload =
      std::max({size_t{inline_bytes}, gather_entries * sizeof(Segment), sizeof(spec::BindEntry)});
  return area_.begin(function, log2_of(entries), sizeof(spec::CommandHeader) + payload);
}

int SendQueue::put(uint32_t queue_pair_number, const SendRequest& request) {
  if (outstanding() >= area_.entries())
    return explain(ENOMEM, "the send queue is full: " + std::to_string(area_.entries()) +
                               " work requests are not completed; poll completions");
  if (request.gather.size() > gather_entries_)
    return explain(EINVAL, "num_sge is " + std::to_string(request.gather.size()) +
                               "; the queue pair was created with max_send_sge " +
                               std::to_string(gather_entries_));
  const uint16_t number = next_.load(std::memory_order_relaxed);
  place_ = number & (area_.entries() - 1);
  uint8_t* const entry = area_.entry(place_);
  uint8_t* const payload = entry + sizeof(spec::CommandHeader);
  spec::CommandHeader header = request.header;
  size_t length = 0;
  if (request.binding != nullptr) {
    length = sizeof *request.binding;
    std::memcpy(payload, request.binding, length);
  } else if (header.inline_data() != 0) {
    if (const int error = put_inline(payload, request.inline_data, length))
      return error;
  } else {
    length = request.gather.size_bytes();
    header.set_gather_count(static_cast<uint32_t>(request.gather.size()));
    if (length != 0)
      std::memcpy(payload, request.gather.data(), length);
  }
  header.set_queue_pair_number(queue_pair_number);
  header.set_send_queue_sequence_number(number);
  header.set_version(spec::command_version);
  header.set_length(static_cast<uint32_t>(length));
  std::memcpy(entry, &header, sizeof header);
  bytes_ = sizeof header + length;
  area_.id(place_) = request.id;
  area_.refer(number, place_, bytes_);
  next_.store(static_cast<uint16_t>(number + 1), std::memory_order_release);
  return 0;
}

// The tail of the last segment is zero.
int SendQueue::put_inline(uint8_t* payload, std::span<const Segment> pieces, size_t& length) const {
  for (const Segment& piece : pieces) {
    if (length + piece.length() > inline_bytes_)
      return explain(EINVAL, "IBV_SEND_INLINE with more data than max_inline_data, " +
                                 std::to_string(inline_bytes_) + " B");
    if (piece.length() != 0)
      std::memcpy(payload + length, reinterpret_cast<const void*>(piece.address()), piece.length());
    length += piece.length();
  }
  const size_t rest = length % spec::segment_bytes;
  if (rest != 0)
    std::memset(payload + length, 0, spec::segment_bytes - rest);
  return 0;
}

} // namespace fpga_verbs::driver
