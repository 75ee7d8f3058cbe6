#pragma once

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::board {

// What the device may do with mapped memory.
enum class DmaRights : uint8_t { none = 0, read = 1, write = 2, read_write = 3 };

// Host memory of whole pages that the device can be given, zeroed; unmapped when the object goes.
class DmaMemory {
public:
  DmaMemory() = default;
  ~DmaMemory();
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
};

} // namespace fpga_verbs::board
