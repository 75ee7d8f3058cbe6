#pragma once

#include "board/board.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fpga_verbs::served {

// Zeroed memory of a shared function, in whole pages, that the device can access.
struct SharedFunctionMemory {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  uint64_t address = 0; // DMA address

  // A DWORD that the device also reads or writes.
  std::atomic_ref<uint32_t> record(size_t offset) const {
    return std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(data + offset));
  }
};

// An open function whose observation its process shares: access to registers and memory beside the driver,
// only through the board function. Thread-safe, except that the driver's thread allocates memory.
class SharedFunction {
public:
  SharedFunction(std::shared_ptr<board::BoardFunction> function, unsigned underlying_function);
  ~SharedFunction();
  SharedFunction(const SharedFunction&) = delete;
  SharedFunction& operator=(const SharedFunction&) = delete;

  unsigned underlying_function() const { return underlying_function_; }
  unsigned functions() const { return functions_; }

  // Nothing: `failure` gives the reason.
  std::optional<SharedFunctionMemory> allocate(size_t bytes, std::string& failure);

  // A register of a region's page.
  struct Register {
    spec::RegionType region = spec::RegionType::none;
    unsigned page = 0;
    uint32_t offset = 0;
  };
  // Nothing: the offset has no register.
  std::optional<Register> find(unsigned bar, uint64_t offset) const;

  // The offset of a function's page in its BAR.
  uint64_t page_offset(unsigned underlying_function) const {
    return place_of({spec::RegionType::underlying_function, underlying_function, 0});
  }

  uint32_t read(const Register& place);
  void write(const Register& place, uint32_t value);
  // On the function's own page.
  uint32_t read_own(uint32_t offset);
  void write_own(uint32_t offset, uint32_t value);
  void write64_own(uint32_t offset, uint64_t value);
  // Reads a register that depends on inspect registers: writes those, then restores their values.
  struct Selection {
    Register place;
    uint32_t value = 0;
  };
  uint32_t read_selected(const Register& place, const std::vector<Selection>& selections);

  // Runs the device if callers drive it by polling.
  bool advance();

  // Reads a register to find out whether the device is still present.
  bool is_gone();

private:
  struct Region {
    unsigned bar = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint32_t stride = 0; // of pages
  };

  uint32_t read_at(unsigned bar, uint64_t offset) { return function_->read32(bar, offset); }
  uint64_t place_of(const Register& place) const;
  const Region& region(spec::RegionType type) const { return regions_[static_cast<size_t>(type)]; }
  void read_regions();

  std::mutex mutex_;
  std::shared_ptr<board::BoardFunction> function_;
  unsigned underlying_function_;
  unsigned functions_ = 0;
  std::array<Region, 8> regions_{}; // by spec::RegionType
  std::vector<std::pair<board::DmaMemory, uint64_t>> memory_;
};

} // namespace fpga_verbs::served
