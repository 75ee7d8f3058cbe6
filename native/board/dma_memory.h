#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace fpga_verbs::board {

// Rights of the device to mapped memory.
enum class DmaRights : uint8_t { none = 0, read = 1, write = 2, read_write = 3 };

// Zeroed host memory of whole pages for DMA; the destructor frees it.
class DmaMemory {
public:
  DmaMemory() = default;
  ~DmaMemory();
  // Memory that `keeper` frees when the object is destroyed.
  DmaMemory(void* data, size_t bytes, std::shared_ptr<void> keeper)
      : data_(data), bytes_(bytes), keeper_(std::move(keeper)) {}
  DmaMemory(DmaMemory&& other) noexcept;
  DmaMemory& operator=(DmaMemory&& other) noexcept;
  DmaMemory(const DmaMemory&) = delete;
  DmaMemory& operator=(const DmaMemory&) = delete;

  // At least `bytes` (more than 0), rounded up to 4 KiB pages. Empty when the system has none left.
  static DmaMemory allocate(size_t bytes);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; } // whole pages
  explicit operator bool() const { return data_ != nullptr; }

private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  std::shared_ptr<void> keeper_; // null: it is unmapped
};

} // namespace fpga_verbs::board
