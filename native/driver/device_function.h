#pragma once

#include "board/dma_memory.h"
#include "driver/backend.h"
#include "driver/board_regions.h"
#include "driver/program_memory.h"
#include "spec/enums.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::driver {

// Memory that the device reaches, zeroed, of whole pages.
struct DeviceMemory {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  uint64_t address = 0; // DMA address

  explicit operator bool() const { return data != nullptr; }
  uint8_t* at(size_t offset = 0) const { return data + offset; }

  // A DWORD that the other side reads or writes too.
  std::atomic_ref<uint32_t> record(size_t offset = 0) const {
    return std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(data + offset));
  }

  // Whether the device has written an entry of a ring, last DWORD last.
  template <class Entry> bool is_written(size_t offset, uint32_t phase) const {
    Entry last;
    last.dwords.back() = record(offset + sizeof(Entry) - sizeof(uint32_t)).load(std::memory_order_acquire);
    return last.phase() == phase;
  }
  // The entry, if it has the phase wanted.
  template <class Entry> std::optional<Entry> entry(size_t offset, uint32_t phase) const {
    if (!is_written<Entry>(offset, phase))
      return std::nullopt;
    Entry entry;
    std::memcpy(entry.dwords.data(), at(offset), sizeof entry);
    return entry;
  }
};

// An open underlying function of a board that this driver knows: its registers, and the memory that it may
// reach. Thread-safe.
class DeviceFunction {
public:
  // Null: it is no board of ours, or one of another major version; explain() says why, `error` what a verb
  // gives.
  static std::unique_ptr<DeviceFunction> make(Backend& backend, int& error);
  ~DeviceFunction();

  Backend& backend() { return backend_; }

  // Why the device is gone, in words that follow "the device is gone: "; null: it is there, as far as is
  // known. It stays so: nothing reaches it any more.
  const char* loss() const { return loss_.load(std::memory_order_relaxed); }
  bool is_lost() const { return loss() != nullptr; }
  void lose(const char* reason) { loss_.store(reason); }
  // EIO, with the sentence that says why.
  int explain_loss() const;
  // Looks whether the device is there, and has the driver's queues; else it is lost.
  void look();
  // A descriptor that says by this condition of poll(2) that the device is gone, and why it is; -1: only
  // look() tells.
  int removal_event();
  const char* removal_reason();
  // Gives back what the kernel has of it, so that it can be taken out. No collect buffer is written from now
  // on.
  void give_up();
  unsigned underlying_function() const { return underlying_function_; }
  const std::string& board_name() const { return board_name_; }

  // At least `bytes`. Nothing: none is left, as explain() says; allocation_error() is what a verb gives.
  DeviceMemory allocate(size_t bytes);
  int allocation_error() const;
  void free(const DeviceMemory& memory);

  // Maps memory of the program: gives 0, the pieces that it has, in order, of which all but the first begin
  // with a page, and what unmap() takes; or what a verb gives, as explain() says.
  int map(void* memory, size_t bytes, board::DmaRights rights, std::vector<DmaPiece>& pieces,
          uint64_t& mapping);
  void unmap(uint64_t mapping);

  // Registers: of the function's own page, of the control page (function 0 alone), of the identity.
  uint32_t read(uint32_t offset) { return read_at(place(spec::RegionType::underlying_function), offset); }
  uint64_t read64(uint32_t offset) { return read64_at(place(spec::RegionType::underlying_function), offset); }
  uint32_t read_identity(uint32_t offset) { return read_at({}, offset); }
  uint64_t read64_identity(uint32_t offset) { return read64_at({}, offset); }
  uint64_t read64_control(uint32_t offset) { return read64_at(place(spec::RegionType::control), offset); }
  void write(uint32_t offset, uint32_t value);
  void write64(uint32_t offset, uint64_t value);
  void write_control(uint32_t offset, uint32_t value);
  void write64_control(uint32_t offset, uint64_t value);

  // Where a page of a region lies.
  struct Place {
    unsigned bar = 0;
    uint64_t offset = 0;
  };
  Place place(spec::RegionType region, unsigned page) const;

  // Without interrupts the driver looks for events itself.
  bool has_interrupts();
  // As BoardFunction::interrupt_event.
  int interrupt_event(unsigned vector);

private:
  DeviceFunction(Backend& backend, std::shared_ptr<board::BoardFunction> function)
      : backend_(backend), function_(std::move(function)) {}
  int identify();
  void read_board_name();
  Place place(spec::RegionType region) const {
    return place(region, region == spec::RegionType::underlying_function ? underlying_function_ : 0);
  }
  uint32_t read_at(Place page, uint32_t offset);
  uint64_t read64_at(Place page, uint32_t offset);

  Backend& backend_;
  std::atomic<const char*> loss_{nullptr};
  std::mutex mutex_;                            // of what follows
  std::map<uint64_t, board::DmaMemory> memory_; // by DMA address; unmapped before it goes
  std::shared_ptr<board::BoardFunction> function_;
  unsigned underlying_function_ = 0;
  BoardRegions regions_;
  std::string board_name_;
};

} // namespace fpga_verbs::driver
