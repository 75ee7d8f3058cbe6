#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace fpga_verbs::pci {

// Addresses from `first` to `last`, both included.
struct AddressRange {
  uint64_t first = 0;
  uint64_t last = 0;
};

// I/O virtual addresses (IOVA) of an IOMMU domain, in pages of `page_bytes`. Addresses are reused last, so
// that a stale one faults. Page 0 is never allocated: address zero is invalid.
class AddressAllocator {
public:
  // `ranges` that the IOMMU accepts, ascending, without overlap.
  AddressAllocator(std::vector<AddressRange> ranges, uint64_t page_bytes);

  // Allocates `bytes` (whole pages) at `address`. False: outside the ranges, or partly allocated.
  bool take(uint64_t address, uint64_t bytes);

  // Allocates `bytes` (whole pages) anywhere. Empty: there is no room.
  std::optional<uint64_t> take_any(uint64_t bytes);

  // Frees the allocation that begins at `address`; returns its bytes, or 0 if there is none.
  uint64_t give_back(uint64_t address);

private:
  std::optional<uint64_t> find(uint64_t from, uint64_t bytes) const;

  std::vector<AddressRange> ranges_;
  uint64_t page_bytes_;
  uint64_t next_ = 0;
  std::map<uint64_t, uint64_t> taken_; // bytes, by address
};

} // namespace fpga_verbs::pci
