#pragma once

#include "board/dma_memory.h"
#include "board/emulated_board.h"
#include "board/emulated_function.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

namespace fpga_verbs::test {

// Zeroed memory that the device reaches; its function owns it.
struct HostMemory {
  uint8_t* data = nullptr;
  size_t bytes = 0;     // whole pages
  uint64_t address = 0; // DMA address

  uint8_t* at(size_t offset = 0) const { return data + offset; }

  // A DWORD that the device reads or writes too.
  std::atomic_ref<uint32_t> record(size_t offset = 0) const {
    return std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(at(offset)));
  }

  // Reads a ring's entry, whose last DWORD the device writes last, if its phase is the expected one.
  template <class Entry> std::optional<Entry> entry(size_t offset, uint32_t phase) const {
    constexpr size_t before = sizeof(Entry) - sizeof(uint32_t);
    Entry entry;
    entry.dwords.back() = record(offset + before).load(std::memory_order_acquire);
    if (entry.phase() != phase)
      return std::nullopt;
    std::memcpy(entry.dwords.data(), at(offset), before);
    return entry;
  }
};

// An open function of an emulated board, for drivers in native tests. One thread uses it; another thread
// opens the function again.
class HostFunction {
public:
  // Whether the board has the function.
  HostFunction(board::EmulatedBoard& board, unsigned underlying_function);

  unsigned underlying_function() const { return underlying_function_; }

  // At least `bytes`, in whole pages.
  HostMemory allocate(size_t bytes);
  // Unmaps it from the device.
  void free(const HostMemory& memory);

  // Registers of the function's page, of the control page, of the identity page.
  uint32_t read(uint32_t offset) { return read_page(spec::RegionType::underlying_function, offset); }
  uint32_t read_control(uint32_t offset) { return read_page(spec::RegionType::control, offset); }
  uint32_t read_identity(uint32_t offset) { return read_page(spec::RegionType::identity, offset); }
  void write(uint32_t offset, uint32_t value);
  void write64(uint32_t offset, uint64_t value);
  void write_control(uint32_t offset, uint32_t value);
  void write_control64(uint32_t offset, uint64_t value);

  // Address of a page of a region.
  struct Place {
    unsigned bar = 0;
    uint64_t offset = 0;
  };
  Place place(spec::RegionType region, unsigned page) const;

  // Number of the function's first VCB, and its number of VCBs.
  unsigned first_collect_buffer() const { return first_collect_buffer_; }
  unsigned collect_buffers() const { return collect_buffers_; }
  void write_command(unsigned virtual_collect_buffer, const void* command, size_t bytes);
  // The same in two steps: the fence completes the store.
  void store_command(unsigned virtual_collect_buffer, const void* command, size_t bytes);
  void fence() { function_->fence(); }
  void write_slot(unsigned virtual_collect_buffer, spec::DoorbellSlot slot, uint32_t queue_pair_number,
                  uint32_t sequence_number);

  // Lets the device work, if polling drives it.
  void advance() { function_->advance(); }
  // The same, or lets time pass.
  void wait_a_little();

  // Resets the function and waits for the end. Returns false if it does not end.
  bool reset();

private:
  uint32_t read_page(spec::RegionType region, uint32_t offset);
  void read_regions();

  struct Region {
    unsigned bar = 0;
    uint64_t offset = 0;
    uint32_t stride = 0;
  };

  board::EmulatedBoard& board_;
  std::map<uint64_t, board::DmaMemory> memory_; // by DMA address; unmapped by the function before it goes
  std::shared_ptr<board::EmulatedFunction> function_;
  unsigned underlying_function_;
  std::array<Region, 8> regions_; // by spec::RegionType
  unsigned first_collect_buffer_ = 0;
  unsigned collect_buffers_ = 0;
};

} // namespace fpga_verbs::test
