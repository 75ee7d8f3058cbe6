#include "board/dma_memory.h"

#include "spec/parameters.h"

#include <sys/mman.h>
#include <utility>

namespace fpga_verbs::board {

DmaMemory DmaMemory::allocate(size_t bytes) {
  DmaMemory memory;
  constexpr size_t page = spec::page_bytes;
  if (bytes == 0 || bytes > SIZE_MAX - page)
    return memory;
  const size_t whole = (bytes + page - 1) / page * page;
  void* const data = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return memory;
  madvise(data, whole, MADV_DONTFORK); // a child must not copy pages under the device's hands
  memory.data_ = data;
  memory.bytes_ = whole;
  return memory;
}

DmaMemory::~DmaMemory() {
  if (data_ != nullptr && keeper_ == nullptr)
    munmap(data_, bytes_);
}

DmaMemory::DmaMemory(DmaMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      keeper_(std::move(other.keeper_)) {}

DmaMemory& DmaMemory::operator=(DmaMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(keeper_, other.keeper_);
  return *this;
}

} // namespace fpga_verbs::board
