#include "pci/vfio_iommufd.h"

#include "pci/iommufd.h"
#include "pci/vfio_control.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace fpga_verbs::pci {

std::unique_ptr<VfioIommufd> VfioIommufd::open(const std::string& iommu_path, const std::string& device_path,
                                               unsigned address_bits, std::string& failure, int& error) {
  const auto failed = [&failure, &error](const std::string& path) {
    error = errno;
    failure = path + " cannot be opened: " + std::strerror(error) +
              "; expected: the module iommufd loaded, and permission to open the file";
    return nullptr;
  };
  const int iommu = ::open(iommu_path.c_str(), O_RDWR | O_CLOEXEC);
  if (iommu < 0)
    return failed(iommu_path);
  std::unique_ptr<VfioIommufd> opened(new VfioIommufd(iommu));
  const int device = ::open(device_path.c_str(), O_RDWR | O_CLOEXEC);
  if (device < 0)
    return failed(device_path);
  opened->set_device(device);
  if (opened->prepare(device_path, failure)) {
    opened->set_ranges(opened->query_ranges(), address_bits);
    return opened;
  }
  error = errno;
  return nullptr;
}

VfioIommufd::~VfioIommufd() {
  close_device();
  close(iommu_);
}

bool VfioIommufd::may_be_in_group(int error) {
  return error == ENOENT || error == EACCES || error == ENODEV || error == ENXIO || error == ENOTTY;
}

bool VfioIommufd::prepare(const std::string& device_path, std::string& failure) {
  iommufd::BindDevice bind;
  bind.iommufd = iommu_;
  iommufd::AllocateAddressSpace allocate;
  iommufd::AttachDevice attach;
  const auto failed = [&failure, &device_path](const char* what, const char* expected) {
    const int reason = errno;
    failure = device_path + what + std::strerror(reason) + "; expected: " + expected;
    errno = reason;
    return false;
  };
  // Before this, no register can be accessed, not even in configuration space.
  if (vfio_control(device(), iommufd::bind_device, &bind) != 0)
    return failed(" is not bound to the iommufd: ",
                  errno == EPERM
                      ? "an IOMMU that remaps interrupts, or the module parameter "
                        "allow_unsafe_interrupts of iommufd"
                      : "no other process has the function open, and every function of its group bound to "
                        "vfio-pci or to no driver");
  if (vfio_control(iommu_, iommufd::allocate_address_space, &allocate) != 0)
    return failed(" gets no address space: ", "memory left in the kernel");
  address_space_ = attach.address_space = allocate.address_space;
  if (vfio_control(device(), iommufd::attach_device, &attach) != 0)
    return failed(" is not attached to its address space: ",
                  "an IOMMU before the function that the kernel knows how to drive");
  return true;
}

// The device limits the address space, so the ranges are queried after the attach.
std::vector<AddressRange> VfioIommufd::query_ranges() const {
  std::vector<iommufd::AddressSpaceRange> list;
  iommufd::AddressRanges request;
  request.address_space = address_space_;
  while (vfio_control(iommu_, iommufd::address_ranges, &request) != 0) {
    if (errno != EMSGSIZE || request.ranges <= list.size())
      return {{0, ~uint64_t{0}}};
    list.resize(request.ranges);
    request.list = reinterpret_cast<uintptr_t>(list.data());
  }
  std::vector<AddressRange> ranges;
  for (uint32_t i = 0; i < request.ranges && i < list.size(); ++i)
    ranges.push_back({list[i].first, list[i].last});
  return ranges;
}

bool VfioIommufd::map_pages(uint64_t memory, uint64_t address, uint64_t bytes, board::DmaRights rights) {
  iommufd::MapMemory request;
  request.flags = iommufd::at_this_address;
  const auto allowed = static_cast<unsigned>(rights);
  if ((allowed & static_cast<unsigned>(board::DmaRights::read)) != 0)
    request.flags |= iommufd::device_reads;
  if ((allowed & static_cast<unsigned>(board::DmaRights::write)) != 0)
    request.flags |= iommufd::device_writes;
  request.address_space = address_space_;
  request.memory = memory;
  request.length = bytes;
  request.address = address;
  return vfio_control(iommu_, iommufd::map_memory, &request) == 0;
}

bool VfioIommufd::unmap_pages(uint64_t address, uint64_t bytes) {
  iommufd::UnmapMemory request;
  request.address_space = address_space_;
  request.address = address;
  request.length = bytes;
  return vfio_control(iommu_, iommufd::unmap_memory, &request) == 0;
}

} // namespace fpga_verbs::pci
