#include "driver/collect_buffers.h"

#include "driver/explanation.h"
#include "spec/commands.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace fpga_verbs::driver {

namespace {

// More threads than this rarely post at the same time.
constexpr unsigned most_used = 16;

} // namespace

void CollectBuffer::write(const void* command, size_t bytes) {
  constexpr size_t unit = spec::segment_bytes;
  const std::scoped_lock lock(mutex_);
  if (stopped_)
    return;
  function_->write_command(page_.bar, page_.offset, command, (bytes + unit - 1) / unit * unit);
}

void CollectBuffer::start(uint32_t queue_pair_number, uint32_t sequence_number) {
  write_slot(spec::DoorbellSlot::start, queue_pair_number, sequence_number);
}

void CollectBuffer::cancel() { write_slot(spec::DoorbellSlot::cancel, 0, 0); }

void CollectBuffer::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
}

void CollectBuffer::write_slot(spec::DoorbellSlot slot, uint32_t queue_pair_number,
                               uint32_t sequence_number) {
  spec::DoorbellSlotWrite value;
  value.set_queue_pair_number(queue_pair_number);
  value.set_send_queue_sequence_number(sequence_number);
  const uint64_t at = page_.offset + spec::doorbell_slots_offset + static_cast<uint64_t>(slot) * sizeof value;
  const std::scoped_lock lock(mutex_);
  if (stopped_)
    return;
  function_->write64(page_.bar, at, std::bit_cast<uint64_t>(value));
  function_->fence();
}

bool CollectBuffers::begin(DeviceFunction& function) {
  namespace registers = spec::underlying_function;
  const registers::VirtualCollectBufferBar bar{function.read(registers::virtual_collect_buffer_bar)};
  const registers::VirtualCollectBufferSubBar sub_bar{
      function.read(registers::virtual_collect_buffer_sub_bar)};
  // Those of the low level, if it has any; else those that the levels share.
  const unsigned first = sub_bar.low() > 0 ? 0 : sub_bar.low();
  const unsigned end = sub_bar.low() > 0 ? sub_bar.low() : sub_bar.high();
  for (unsigned index = first; index < std::min({end, bar.count(), first + most_used}); ++index) {
    std::string failure;
    std::shared_ptr<board::BoardFunction> own = function.backend().open(failure);
    if (own == nullptr)
      break;
    const unsigned number = bar.base() + index;
    buffers_.push_back(std::make_unique<CollectBuffer>(
        std::move(own), function.place(spec::RegionType::virtual_collect_buffer, number), number));
  }
  if (buffers_.empty())
    explain(ENOMEM, "the function has no virtual collect buffer of its low level");
  return !buffers_.empty();
}

CollectBuffer& CollectBuffers::take() {
  const std::scoped_lock lock(mutex_);
  turn_ = (turn_ + 1) % buffers_.size();
  return *buffers_[turn_];
}

void CollectBuffers::stop() {
  for (const auto& buffer : buffers_)
    buffer->stop();
}

CollectBuffer* CollectBuffers::find(unsigned number) {
  const auto found =
      std::ranges::find_if(buffers_, [=](const auto& buffer) { return buffer->number() == number; });
  return found == buffers_.end() ? nullptr : found->get();
}

} // namespace fpga_verbs::driver
