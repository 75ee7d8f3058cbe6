#pragma once

#include <cstdint>
#include <linux/ioctl.h>
#include <linux/vfio.h>

// The part of iommufd (Linux 6.2, userspace-api/iommufd) and of VFIO device files (6.6) that this project
// uses. Headers of older systems lack it, although newer kernels may run there.
namespace fpga_verbs::pci::iommufd {

inline constexpr unsigned long allocate_address_space = _IO(';', 0x81);
inline constexpr unsigned long address_ranges = _IO(';', 0x84);
inline constexpr unsigned long map_memory = _IO(';', 0x85);
inline constexpr unsigned long unmap_memory = _IO(';', 0x86);
inline constexpr unsigned long bind_device = _IO(VFIO_TYPE, VFIO_BASE + 18);
inline constexpr unsigned long attach_device = _IO(VFIO_TYPE, VFIO_BASE + 19);

// Each begins with its own bytes.
struct AllocateAddressSpace {
  uint32_t bytes = sizeof(AllocateAddressSpace);
  uint32_t flags = 0;
  uint32_t address_space = 0; // out
};

struct AddressSpaceRange {
  uint64_t first = 0;
  uint64_t last = 0;
};

// EMSGSIZE: `ranges` says how many there are.
struct AddressRanges {
  uint32_t bytes = sizeof(AddressRanges);
  uint32_t address_space = 0;
  uint32_t ranges = 0; // in: room, out: how many
  uint32_t reserved = 0;
  uint64_t list = 0;      // address of AddressSpaceRange[ranges]
  uint64_t alignment = 0; // out: of addresses and lengths, at most a page
};

inline constexpr uint32_t at_this_address = 1 << 0;
inline constexpr uint32_t device_writes = 1 << 1;
inline constexpr uint32_t device_reads = 1 << 2;

struct MapMemory {
  uint32_t bytes = sizeof(MapMemory);
  uint32_t flags = 0;
  uint32_t address_space = 0;
  uint32_t reserved = 0;
  uint64_t memory = 0;
  uint64_t length = 0;
  uint64_t address = 0;
};

// Whole mappings only.
struct UnmapMemory {
  uint32_t bytes = sizeof(UnmapMemory);
  uint32_t address_space = 0;
  uint64_t address = 0;
  uint64_t length = 0; // out: bytes that were unmapped
};

struct BindDevice {
  uint32_t bytes = sizeof(BindDevice);
  uint32_t flags = 0;
  int32_t iommufd = -1;
  uint32_t device = 0; // out
};

struct AttachDevice {
  uint32_t bytes = sizeof(AttachDevice);
  uint32_t flags = 0;
  uint32_t address_space = 0; // out: the page table that it has
};

} // namespace fpga_verbs::pci::iommufd
