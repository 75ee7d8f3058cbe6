#include "board/emulated_function.h"

#include "board/emulated_board.h"
#include "board/neighbors.h"

#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace fpga_verbs::board {

namespace {

constexpr unsigned chunk_bytes = 8;
constexpr unsigned bridge_chunk_bytes = 4;

} // namespace

EmulatedFunction::EmulatedFunction(std::shared_ptr<EmulatedBoard> board, unsigned underlying_function)
    : board_(std::move(board)), ring_(board_->ring_), progress_(*board_->progress_),
      underlying_function_(underlying_function) {
  events_.fill(-1);
  const EmulatedBoardOptions& options = board_->options();
  facts_ = board_->facts_of(underlying_function);
  if (options.stores == StoreModel::adversarial)
    write_combining_.emplace(options.seed + underlying_function,
                             options.double_word_only ? bridge_chunk_bytes : chunk_bytes,
                             [this](unsigned bar, uint64_t offset, const uint8_t* data, size_t bytes) {
                               push(bar, offset, data, bytes);
                             });
}

EmulatedFunction::~EmulatedFunction() {
  fence();
  {
    const Exclusive exclusive(progress_);
    if (--board_->handles_[underlying_function_] == 0)
      board_->device_->reset_function(underlying_function_);
    for (const uint64_t address : mapped_)
      board_->host_.domain(underlying_function_).unmap(address);
    for (unsigned vector = 0; vector < events_.size(); ++vector) {
      board_->host_.interrupts().detach(underlying_function_, vector, events_[vector]);
      if (signals_[vector] != nullptr)
        board_->host_.interrupts().detach(underlying_function_, vector, *signals_[vector]);
    }
  }
  for (const int event : events_)
    if (event >= 0)
      close(event);
}

uint32_t EmulatedFunction::read32(unsigned bar, uint64_t offset) {
  if (write_combining_)
    write_combining_->fence(); // a read of uncached memory drains the write-combining buffers
  ReadAnswer answer{0};
  while (!ring_.push_read(underlying_function_, bar, offset, answer))
    progress_.make_room();
  return progress_.wait_for(answer);
}

void EmulatedFunction::write32(unsigned bar, uint64_t offset, uint32_t value) {
  store(bar, offset, &value, sizeof value);
  progress_.posted();
}

void EmulatedFunction::write64(unsigned bar, uint64_t offset, uint64_t value) {
  store(bar, offset, &value, sizeof value);
  progress_.posted();
}

void EmulatedFunction::write_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) {
  store_command(bar, offset, source, bytes);
  fence();
}

// The release store of the ring is the barrier to the device.
void EmulatedFunction::store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) {
  constexpr size_t tail = 8;
  store(bar, offset, source, (bytes + tail - 1) / tail * tail);
}

void EmulatedFunction::fence() {
  if (write_combining_)
    write_combining_->fence();
  Neighbors& neighbors = Neighbors::here();
  if (neighbors.leaves_commands() && progress_.leave_command())
    neighbors.leave(board_);
  else
    progress_.posted();
}

bool EmulatedFunction::advance() { return board_->advance(); }

void EmulatedFunction::let_time_pass() { progress_.let_time_pass(); }

std::optional<uint64_t> EmulatedFunction::map_dma(void* memory, size_t bytes, DmaRights rights) {
  const Exclusive exclusive(progress_);
  IommuDomain& domain = board_->host_.domain(underlying_function_);
  const uint64_t before = domain.entries_changed();
  const std::optional<uint64_t> address = domain.map(memory, bytes, rights);
  table_entries_changed_ += domain.entries_changed() - before;
  if (address)
    mapped_.insert(*address);
  return address;
}

bool EmulatedFunction::unmap_dma(uint64_t address) {
  if (mapped_.erase(address) == 0)
    return false;
  const Exclusive exclusive(progress_);
  IommuDomain& domain = board_->host_.domain(underlying_function_);
  const uint64_t before = domain.entries_changed();
  const bool was_mapped = domain.unmap(address);
  table_entries_changed_ += domain.entries_changed() - before;
  return was_mapped;
}

int EmulatedFunction::interrupt_event(unsigned vector) {
  if (vector >= events_.size())
    return -1;
  int& event = events_[vector];
  if (event >= 0)
    return event;
  event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (event < 0)
    return -1;
  const Exclusive exclusive(progress_);
  board_->host_.interrupts().attach(underlying_function_, vector, event);
  return event;
}

link::Descriptor EmulatedFunction::interrupt_signal(unsigned vector) {
  link::Descriptor far_end;
  if (vector >= signals_.size())
    return {};
  std::optional<link::OneWaySignal> made = link::OneWaySignal::make(far_end);
  if (!made)
    return {};
  auto signal = std::make_unique<link::OneWaySignal>(std::move(*made));
  const Exclusive exclusive(progress_);
  Interrupts& interrupts = board_->host_.interrupts();
  if (signals_[vector] != nullptr)
    interrupts.detach(underlying_function_, vector, *signals_[vector]);
  interrupts.attach(underlying_function_, vector, *signal);
  signals_[vector] = std::move(signal);
  return far_end;
}

void EmulatedFunction::reset() {
  fence();
  const Exclusive exclusive(progress_);
  board_->device_->reset_function(underlying_function_);
}

void EmulatedFunction::store(unsigned bar, uint64_t offset, const void* source, size_t bytes) {
  if (write_combining_ && board_->device_side_.map().prefetchable(bar))
    write_combining_->store(bar, offset, static_cast<const uint8_t*>(source), bytes);
  else
    push(bar, offset, source, bytes);
}

void EmulatedFunction::push(unsigned bar, uint64_t offset, const void* source, size_t bytes) {
  while (!ring_.push_write(underlying_function_, bar, offset, source, bytes))
    progress_.make_room();
}

} // namespace fpga_verbs::board
